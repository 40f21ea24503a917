#pragma once

#include "engine/queue/queue_event.hpp"

#include <map>
#include <optional>
#include <set>

namespace clade {

/// How slots are shared, and how far.
struct queue_rules {
  /// Waiting so long outweighs one step of priority, so that nothing starves behind higher
  /// ones that keep coming.
  std::chrono::seconds ageing = std::chrono::hours(24);
  /// Use of so long ago counts half as much as use of now.
  std::chrono::seconds half_life = std::chrono::hours(7 * 24);
  /// A slot that a user has now counts as so much use in advance.
  std::chrono::seconds advance{60};
  /// The most slots that one user's entries may have together; 0: all there are.
  std::uint32_t quota = 0;
  std::map<std::string, std::uint32_t> quotas{}; ///< Instead of `quota`, by user.
  /// The limits of what one user may have waiting: entries, and about so many bytes of
  /// them.
  std::uint64_t most_waiting = 50'000, most_waiting_bytes = std::uint64_t{64} << 20;

  [[nodiscard]] std::uint32_t quota_of(const std::string& user) const;
};

/// An entry is given up when it was lost so often where it was alone on a machine that went
/// down: it may be what does that. An entry that is lost with others, or with a server or
/// a worker that somebody ended, is not to blame, however often that happens.
inline constexpr std::uint32_t most_losses = 5;

/// Times are milliseconds since 1970 (UTC), as recorded.
struct queue_entry {
  queue_submission what{};
  entry_state state = entry_state::waiting;
  std::int64_t submitted_ms = 0;
  std::int64_t started_ms = 0; ///< The last time; 0: never.
  std::int64_t ended_ms = 0;   ///< The last time; 0: never.
  std::uint32_t starts = 0, losses = 0;
  std::uint32_t own_losses = 0;     ///< The losses that count towards `most_losses`.
  std::vector<std::string> slots{}; ///< That it has, or had last.
  std::string worker{};             ///< `entry_started::worker` of its last start.
  /// It was told to end and has not yet.
  std::optional<stop_cause> stopping{};
  std::string reason{}; ///< Why it is in this state, for people.

  friend bool operator==(const queue_entry&, const queue_entry&) = default;
};

/// The use that a user had of the machine, in seconds of a slot: a sum that halves in
/// each half-life, as of a time.
struct decayed_use {
  double slot_seconds = 0;
  std::int64_t at_ms = 0;

  friend bool operator==(const decayed_use&, const decayed_use&) = default;
};

/// A queue: the fold of its events. (DESIGN 2.1: what happens is recorded, folded in, and
/// only then acted upon.)
struct queue_state {
  std::chrono::seconds half_life = queue_rules{}.half_life;
  std::map<entry_id, queue_entry> entries{}; ///< The entries of all times.
  std::set<entry_id> waiting{};              ///< Also those that were preempted.
  std::set<entry_id> running{};
  std::map<std::string, decayed_use> use{}; ///< By user, of processes that have ended.
  std::map<std::pair<std::string, std::string>, entry_id> once{}; ///< By user and word.
  /// Entries that come after one that is not over, by that one.
  std::map<entry_id, std::vector<entry_id>> dependents{};

  [[nodiscard]] entry_id last_id() const {
    return entries.empty() ? 0 : entries.rbegin()->first;
  }

  friend bool operator==(const queue_state&, const queue_state&) = default;
};

/// Folds one event in. An error (`corrupt`) means that these are not the events of one
/// queue in their order; the state is then as it was.
[[nodiscard]] expected<void> apply(queue_state& state, const queue_event& e,
                                   std::int64_t unix_ms);

/// Returns the worth of `use` at that time.
[[nodiscard]] double use_at(const decayed_use& use, std::chrono::seconds half_life,
                            std::int64_t unix_ms);

/// Returns the use that a running entry has added to its user's by then.
[[nodiscard]] double use_of_running(const queue_entry& e, std::chrono::seconds half_life,
                                    std::int64_t unix_ms);

/// The machine that an entry goes on on, which has what it did: that of a run that has
/// begun; none of others.
[[nodiscard]] std::optional<std::string> home_of(const queue_entry& e);

/// Whether all that it comes after has succeeded.
[[nodiscard]] bool is_ready(const queue_state& state, const queue_entry& e);

/// Returns the event of an entry's end, whose process ended with that wait status.
/// `text`: the status in words.
[[nodiscard]] entry_ended end_of(entry_id id, const queue_entry& e, int wait_status,
                                 const std::string& text);

/// "2 cuda slots". No device: of any.
[[nodiscard]] std::string slots_in_words(std::size_t count,
                                         const std::string& device = {});

/// Lines: "#3 alice running p5 2 slots on cpu:0 cpu:1".
[[nodiscard]] std::string to_text(const queue_state& state);

} // namespace clade
