#pragma once

#include "engine/search/core/candidate.hpp"

#include <compare>
#include <cstdint>
#include <string>

namespace clade {

/// The kind of work that a node is asked to do; the value goes over the wire.
enum class task_type : std::uint8_t {
  train = 0,  ///< Train a candidate and validate it.
  test = 1,   ///< Measure a trained candidate, or the linear model, on held-out data.
  compose = 2 ///< Put the final model together and measure it; of no candidate.
};

/// Names a task, for a head and for those that come after it: the same candidate is
/// trained once and tested once.
struct task_id {
  candidate_id candidate = 0; ///< 0: the linear model, which is only tested.
  task_type type = task_type::train;

  constexpr task_id() = default;
  /// A candidate's number alone names its training.
  constexpr task_id(candidate_id c, task_type k = task_type::train)
      : candidate(c),
        type(k) {}

  friend auto operator<=>(const task_id&, const task_id&) = default;
};

/// "#7", "the test of #7", "the test of the linear model", "the final model".
[[nodiscard]] std::string to_text(const task_id& id);

/// The resources that a task takes.
struct task_needs {
  /// The memory of all its slots, as estimated; 0: next to nothing.
  std::uint64_t memory_bytes = 0;
  /// All at the same time. A task of several is a gang. Its slots are of one machine: the
  /// node of one does it, and the nodes of the others do nothing meanwhile.
  std::uint32_t slots = 1;
  /// For a gang: every node does a part, and they may be of different machines.
  bool team = false;
  /// The kind of device, "cuda" or "cpu", that can do it; empty: any.
  std::string device{};
};

/// A task that is to be done: `work` decides the order, `needs` who may do it.
struct task {
  task_id id;
  double work = 0; ///< In any unit; as long on one slot as on k a k-th of it.
  task_needs needs;
  /// It goes before all others, however long they are.
  bool first = false;
  /// It travels by itself, however short others are.
  bool alone = false;
};

} // namespace clade
