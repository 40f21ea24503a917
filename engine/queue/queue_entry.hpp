#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace clade {

/// Counts from 1 in the order of submission; 0 is none.
using entry_id = std::uint64_t;

enum class entry_kind : std::uint8_t {
  run,     ///< `clade run`: an experiment file.
  train,   ///< `clade train`: one network.
  command, ///< Any program.
};
inline constexpr std::size_t entry_kinds = 3;

/// "run", "train", "command"
[[nodiscard]] std::string_view to_text(entry_kind k);

/// Whether what it had done when it was stopped is not lost: `clade resume` goes on.
[[nodiscard]] constexpr bool is_resumable(entry_kind k) {
  return k != entry_kind::command;
}

/// The work that a user wants done.
struct queue_submission {
  std::string user{};
  entry_kind kind = entry_kind::command;
  /// The arguments of `clade run` or `clade train`, or a program and its arguments.
  std::vector<std::string> words{};
  std::string directory{}; ///< The folder in which it works, an absolute path.
  std::string name{};      ///< For people.
  /// Larger is sooner.
  std::int64_t priority = 0;
  /// How many it needs together.
  std::uint32_t slots = 1;
  std::string device{}; ///< Their kind, "cpu" or "cuda"; empty: any.
  /// How long it may run each time it is started; 0: unlimited. Entries that say it can
  /// be put before one that waits for more slots.
  std::chrono::seconds time{0};
  /// The entries that must have succeeded before.
  std::vector<entry_id> after{};
  /// A command that may be stopped for a higher priority, and is then begun again.
  bool requeue = false;
  /// The user's own word for it; empty: none. An entry that they submit again under it is
  /// there already.
  std::string once{};
  /// A command that is started so many times at once, each with an equal share of its slots
  /// and a number of its own: a training by several processes. None: once, without one.
  std::optional<std::uint32_t> ranks{};

  friend bool operator==(const queue_submission&, const queue_submission&) = default;
};

[[nodiscard]] inline bool is_preemptible(const queue_submission& s) {
  return s.requeue || is_resumable(s.kind);
}

enum class entry_state : std::uint8_t {
  waiting,
  held, ///< It never starts: an entry that it comes after did not succeed.
  running,
  preempted, ///< It waits for slots to go on with.
  succeeded,
  failed,
  cancelled,
};
inline constexpr std::size_t entry_states = 7;

/// "waiting", "held", ...
[[nodiscard]] std::string_view to_text(entry_state s);

/// The machine of a slot: "rome" of "cuda:0@rome"; empty of one that the server has itself.
[[nodiscard]] constexpr std::string_view machine_of(std::string_view slot) {
  const auto at = slot.find('@');
  return at == std::string_view::npos ? std::string_view() : slot.substr(at + 1);
}

/// Whether nothing happens to it any more, unless somebody cancels a held one.
[[nodiscard]] constexpr bool is_over(entry_state s) {
  return s == entry_state::held || s >= entry_state::succeeded;
}

/// Whether it waits for slots, or for others.
[[nodiscard]] constexpr bool is_waiting(entry_state s) {
  return s == entry_state::waiting || s == entry_state::preempted;
}

} // namespace clade
