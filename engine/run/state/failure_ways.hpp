#pragma once

#include "engine/search/core/candidate.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace clade {

/// A way in which candidates failed: with the same outcome, and with the same reason but for
/// the numbers in it.
struct failure_way {
  clade::outcome outcome = clade::outcome::crashed;
  std::string reason{}; ///< The reason of the first that failed so.
  std::uint64_t count = 0;

  friend bool operator==(const failure_way&, const failure_way&) = default;
};

/// Returns "all 10 failed alike: crashed: no such folder" or, of more than were counted so,
/// "6 of 10 failed so: crashed: no such folder".
[[nodiscard]] std::string to_text(const failure_way& way, std::uint64_t of);

/// How candidates failed since the last that did not.
class failure_ways {
public:
  /// Counts an evaluation; one that succeeded makes them forget all. A candidate that a
  /// person dropped is not counted.
  void add(const evaluation& e);
  void clear();

  [[nodiscard]] std::uint64_t all() const { return all_; }
  /// Returns the way of most, of equals the first; nullptr: none failed.
  [[nodiscard]] const failure_way* commonest() const;
  /// Returns `to_text` of the way of most; empty: none failed.
  [[nodiscard]] std::string text() const;
  /// Returns whether so many failed in one way, and none in another, that no candidate of
  /// another genome is likely to succeed: 10 that could not be built or whose program ended
  /// badly, 30 where genomes have more to do with it, as with time, memory and divergence.
  [[nodiscard]] bool hopeless() const;

private:
  /// Ways beyond these are counted in `all_` alone.
  static constexpr std::size_t most_ways = 100;

  std::vector<failure_way> ways_;
  std::vector<std::string> kinds_; ///< The kind of each way: its reason without numbers.
  std::uint64_t all_ = 0;
};

} // namespace clade
