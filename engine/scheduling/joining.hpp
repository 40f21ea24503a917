#pragma once

#include "engine/scheduling/schedule.hpp"

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace clade {

/// Returns the kind of a slot's device by the slot's name, in which a worker's may come
/// first: "cuda" of "rome/cuda:1/0", "cpu" of "cpu:0".
[[nodiscard]] std::string_view device_kind_of(std::string_view slot);

/// A slot, and what the last bits of evaluations on it depend on, as in slot_changed. A
/// rounding of 0 stands for any.
struct rounding_slot {
  std::string slot;
  std::uint64_t rounding = 0;
};

/// Returns whether evaluations on the one have other last bits than those on the other.
[[nodiscard]] bool rounds_otherwise(const rounding_slot& one, const rounding_slot& other);

/// The rules that all slots of a run have in common.
struct joining_rules {
  bool portable = false; ///< Evaluations have the same bits on all.
  bool by_team = false;  ///< They do trainings together.
};

/// Returns why a slot may not join beside `first`, which did first, or an empty text.
[[nodiscard]] std::string why_unfit(const rounding_slot& joining,
                                    const rounding_slot& first,
                                    const joining_rules& rules);

/// Returns how often a node is to be heard, so that its lease does not end meanwhile.
[[nodiscard]] std::chrono::milliseconds heartbeat_for(std::chrono::milliseconds lease);

/// Returns by how much a node's clock, in milliseconds since 1970, is ahead of this
/// machine's. The time that a message takes is too little to matter. 0: the node does not say.
[[nodiscard]] std::chrono::milliseconds clock_ahead(std::uint64_t clock_ms,
                                                    std::int64_t now_ms);

/// Returns the leases under which a node that says hello keeps what it has. One that is
/// `back` keeps those that hold. Whatever else it has was given by an earlier head, or
/// under a lease that ended: it gets a new one where the task waits.
[[nodiscard]] std::vector<lease> leases_kept(schedule& schedule, node_id node,
                                             const std::vector<lease>& has, bool back);

/// Node processes that were lost before it was known how they ended, by their sessions. If
/// there are more than a thousand, the oldest are forgotten.
class lost_processes {
public:
  void remember(std::uint64_t session, node_id node);
  /// It was silent only, or it is known how it ended. Returns its node.
  std::optional<node_id> forget(std::uint64_t session);

  [[nodiscard]] std::size_t size() const { return nodes_.size(); }

private:
  std::map<std::uint64_t, node_id> nodes_;
};

/// Remembers who the members of each team are, as these know it.
class team_roster {
public:
  struct change {
    formed_team team;
    bool goes_on = false; ///< It was formed before, of other members.
  };

  /// Returns the teams whose members must be told who they are, because these are others
  /// than before; they are the known ones from then on. Teams that are no more are
  /// forgotten.
  [[nodiscard]] std::vector<change> update(const std::vector<formed_team>& present);

  [[nodiscard]] bool empty() const { return members_.empty(); }

private:
  std::map<task_id, std::vector<node_id>> members_;
};

} // namespace clade
