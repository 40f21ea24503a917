#pragma once

#include "engine/queue/queue_entry.hpp"
#include "genome/codec/codec.hpp"

#include <variant>

namespace clade {

/// An entry is in the queue. Its number is the next one.
struct entry_submitted {
  entry_id id = 0;
  queue_submission what{};
};

/// It is recorded before the process is started.
struct entry_started {
  entry_id id = 0;
  /// Their names, such as "cuda:0", or "cuda:0@rome" of another machine; all of one.
  std::vector<std::string> slots{};
  /// The user whose token asks for that machine. None: a slot of the server's own, or an
  /// event from before this was recorded.
  std::optional<std::string> worker{};
};

/// Why a running entry is told to end.
enum class stop_cause : std::uint8_t {
  cancelled,      ///< Somebody wanted it.
  preempted,      ///< One of a higher priority needs its slots.
  out_of_time,    ///< It ran longer than it said.
  server_stopped, ///< The server ends; the entry waits for the next one.
  machine_left    ///< Its machine leaves; the entry waits for slots.
};
inline constexpr std::size_t stop_causes = 5;

/// A running entry is told to end. `entry_ended` follows.
struct entry_stopping {
  entry_id id = 0;
  stop_cause cause = stop_cause::cancelled;
  std::string who{}; ///< A user, or the entry that comes before it.
};

/// Its process has ended, or it was cancelled before it had one.
struct entry_ended {
  entry_id id = 0;
  /// preempted, succeeded, failed or cancelled.
  entry_state state = entry_state::failed;
  std::string reason{}; ///< A sentence for people: "ended with status 3".
};

/// The server died while the entry ran, and its processes with it, or its machine was heard
/// of no more: it waits again, or has failed if that was its own doing too often.
struct entry_lost {
  entry_id id = 0;
  /// Whether there is evidence that the entry was the cause: its machine went down, and it
  /// was alone there. None: an event from before this was recorded, which counts as if.
  std::optional<bool> own_doing{};
};

/// The events that are recorded of a queue. The order of the alternatives is stored: add
/// at the end.
using queue_event =
    std::variant<entry_submitted, entry_started, entry_stopping, entry_ended, entry_lost>;

/// The number by which the alternative is stored, from 1.
[[nodiscard]] inline std::uint64_t kind_of(const queue_event& e) {
  return e.index() + 1;
}

/// [kind, field, ...]; grammar at the top of queue_event.cpp.
[[nodiscard]] bytes encode(const queue_event& e);
[[nodiscard]] expected<queue_event> decode_queue_event(std::span<const char> data);

/// "#3 starts on cuda:0, cuda:1"
[[nodiscard]] std::string to_text(const queue_event& e);

} // namespace clade
