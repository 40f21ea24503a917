#pragma once

#include "engine/queue/queue_state.hpp"

namespace clade {

/// A slot that the queue hands out.
struct queue_slot {
  std::string name;   ///< "cuda:0"; of another machine than the server's "cuda:0@rome".
  std::string device; ///< Its kind: "cuda", "cpu".

  friend bool operator==(const queue_slot&, const queue_slot&) = default;
};

struct next_entries {
  struct start {
    entry_id id = 0;
    std::vector<std::string> slots;

    friend bool operator==(const start&, const start&) = default;
  };
  struct stop {
    entry_id id = 0;
    entry_id for_the_sake_of = 0;

    friend bool operator==(const stop&, const stop&) = default;
  };
  std::vector<start> starts;
  std::vector<stop> stops; ///< Preempted: they are told to end.

  friend bool operator==(const next_entries&, const next_entries&) = default;
};

/// Times of entries.
using entry_times = std::map<entry_id, std::chrono::milliseconds>;

/// The slots there are.
struct queue_slots {
  std::vector<queue_slot> all; ///< The slots of a machine, one behind the other.
  /// Machines that are not there and may be soon, as after the server was started again.
  std::set<std::string, std::less<>> awaited{};
  /// Why nothing begins, whatever is free, for people; empty: it does.
  std::string trouble{};
  /// Entries that run and are paused, and why, for people.
  std::map<entry_id, std::string> paused{};
};

/// Decides what begins now, and what makes room. Pure.
///
/// Order. Each waiting entry has a score: its priority, plus the time that it has waited
/// over `queue_rules::ageing`, minus half of its user's share, from 0 to 1, of what
/// all users have used of late (decayed, running entries included). The largest score is
/// next; of equal ones the first submitted. So a step of priority weighs more than any use
/// and as much as a day of waiting, and whatever waits is next at some time. This is
/// SLURM's multifactor priority (Yoo, Jette and Grondona, "SLURM: Simple Linux Utility
/// for Resource Management", 2003; slurm.schedmd.com/priority_multifactor.html) with
/// three factors. Kueue's admission by usage with a half-life is the same fair share.
///
/// An entry that its user's quota has no room for is passed over.
///
/// Machines. An entry gets slots of one machine: of those that have enough the one where
/// the fewest are left over. A run goes on where it has begun, as long as that machine is
/// there or awaited, and begins anew elsewhere after that.
///
/// Gangs. An entry gets all its slots at once. The first that finds too few is waited for
/// (EASY backfilling; Lifka, "The ANL/IBM SP Scheduling System", 1995): from the times
/// that running entries have said follows when it can begin, at the latest. Others begin
/// before it on slots that it does not need then, or if they have said that they end
/// before. An entry that has said no time ends after all that have. It is waited for on
/// the machine where it can begin first.
///
/// Preemption. If entries of a lower priority have what the first one that waits lacks,
/// they are stopped: the lowest priority first, of equal ones what began last. An entry
/// is stopped only for one that has the larger score too, whatever their users' shares
/// come to be, so that it cannot come back at once and be stopped again.
///
/// `ran`: how long running entries have run, by a clock that nobody sets; of others it
/// follows from the recorded times.
[[nodiscard]] next_entries find_next(const queue_state& state, const queue_rules& rules,
                                     const queue_slots& slots, std::int64_t unix_ms,
                                     const entry_times& ran = {});

/// Why a waiting entry does not start now, for the person who asks.
[[nodiscard]] std::string why_waiting(const queue_state& state, const queue_rules& rules,
                                      const queue_slots& slots, entry_id id);

/// Says what the person should know who has just submitted an entry: that no machine has as
/// many slots, or that it cannot begin before `by` has ended, the running entry that
/// submitted it (0: none did). Empty: nothing.
[[nodiscard]] std::string note_on(const queue_state& state, const queue_rules& rules,
                                  const queue_slots& slots, entry_id id, entry_id by);

/// The most slots that serve the submission together: those of one machine.
[[nodiscard]] std::size_t most_together(const queue_slots& slots,
                                        const queue_submission& what);

/// Whether the slot is of the kind that the entry wants.
[[nodiscard]] bool serves(const queue_slot& slot, const queue_submission& what);

} // namespace clade
