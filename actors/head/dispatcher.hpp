#pragma once

#include "actors/messages/protocol.hpp"
#include "engine/scheduling/candidate_tasks.hpp"
#include "engine/scheduling/joining.hpp"
#include "engine/scheduling/shared_time.hpp"
#include "engine/telemetry/picture/feed.hpp"
#include "engine/telemetry/picture/stragglers.hpp"
#include "engine/telemetry/picture/team_work.hpp"

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace clade {

struct dispatcher_params {
  schedule_params schedule;
  std::uint64_t run = 0;        ///< `store::identity`.
  std::string experiment;       ///< Resolved TOML, for the nodes.
  std::vector<data_file> files; ///< Its data.
  data_source_actor source;     ///< Who sends them, and keeps what nodes send.
  /// The folder in which large weights and checkpoints are gathered; empty: none may come.
  std::filesystem::path incoming;
  /// At first nothing is handed out for so long, because nodes of the session before may
  /// come back with what they have.
  std::chrono::milliseconds wait_for_nodes{0};
  std::uint64_t local_worker = 0; ///< If this one cannot train, the run cannot go on.
  candidate_task_rules tasks{};
  /// Knows what trainings start from; none: they start from nothing (synthetic fitness).
  archive_actor archive{};
  bool by_team = false; ///< Trainings may be done by teams.
  /// The first members of a team may be servers, which compute nothing; where there are
  /// any, every team has so many slots.
  std::uint32_t servers = 0, slots_with_servers = 0;
  bool waits_for_all = true;         ///< It means the same as in `distribution_params`.
  std::uint32_t gradients_taken = 0; ///< The same.
  /// Slots whose evaluations would have other bits than those of the first may not join.
  bool portable = false;
  /// Trainings leave checkpoints, since others may start from them.
  bool keep_checkpoints = false;
  std::function<void(const std::string&)> say; ///< For the log. From any thread.
  std::function<void(epoch_event)> show;       ///< To viewers, if set.
};

/// Hands tasks to nodes and their results to the selector. The `schedule` decides
/// which tasks may be handed out, to whom, and which result counts; the functions beside it
/// in `engine/scheduling` decide which tasks candidates become, and who may join. This
/// keeps the handles.
struct dispatcher_state {
  using time_point = caf::actor_clock::time_point;

  struct open_test {
    assignment what;
    caf::typed_response_promise<test_answer> answer;
  };
  /// The number of a lease, and which blob of its task.
  using part_key = std::pair<std::uint64_t, blob_part>;
  struct arriving {
    std::shared_ptr<upload> to;
    blob whole; ///< Empty until all of it is there.
  };
  struct node_entry {
    link_actor link; ///< None while it is away.
    slot_view view;
    std::uint64_t worker = 0, session = 0;
    team_address team;
    team_work passed{}; ///< The figures that it told last of its work in a team.
    std::uint64_t rounding = 0;
    time_point joined, at_work;
    /// Blobs that the node fetches, and sends, in pieces; both end with the lease.
    std::map<part_key, blob> lent;
    std::map<part_key, arriving> uploads;
  };
  struct pending_hello {
    node_hello hello;
    link_actor link;
    caf::typed_response_promise<node_welcome> answer;
  };

  dispatcher_actor::stateful_pointer<dispatcher_state> self = nullptr;
  dispatcher_params params;
  clade::schedule schedule;
  selector_actor selector;
  std::vector<pending_hello> early; ///< Came before the selector.
  std::map<node_id, node_entry> nodes;
  rounding_slot
      first_rounding; ///< The rounding of the first node that joined and has one.
  lost_processes lost;
  std::map<std::string, slot_failures> failures; ///< By slot.
  std::map<candidate_id, candidate> open;        ///< Submitted, no result yet.
  shared_time finals; ///< The trainings at the end of the run among these.
  std::map<task_id, open_test> tests; ///< The same of these.
  team_roster teams;
  std::uint64_t last_generation = 0;
  straggler_watch stragglers;
  time_point stragglers_seen_at;
  double keep_weights_above = 0;
  bool has_begun = false; ///< Candidates came.
  node_id last_node = 0;
  std::uint64_t last_upload = 0;
  time_point serves_from;
  bool held = false;               ///< A person wants nothing to be handed out.
  bool hands_back = false;         ///< It means the same as in `withdraw`.
  std::set<candidate_id> left_out; ///< That the selector was told of since then.
  bool over = false;

  void begin(const selector_actor& told);
  caf::result<node_welcome> greet(const node_hello& hello, const link_actor& link);
  node_welcome welcome(const node_hello& hello, const link_actor& link);
  void ready(const node_ready& message);
  void take(const submission& message);
  void take(const assignment& test, caf::typed_response_promise<test_answer> answer);
  taken take(const results& message);
  caf::result<chunk> lend(const fetch_piece& request);
  caf::result<piece_taken> take(piece part);
  void show(const epoch_passed& message);
  void show(const team_passed& message);
  may_leave let_go(const leaving& message);
  void close(const caf::actor_addr& link);
  void lose(node_id id, const former_process& end);
  void lose_silent();
  void look_for_stragglers();
  withdrawn take_back(const withdraw& message);
  void drop(const drop_candidate& message);
  slots_view view() const;
  void serve();
  void dismiss(const std::string& reason);

private:
  [[nodiscard]] time_point now() const { return self->clock().now(); }
  void say(const std::string& words) const;
  void join(node_id id, node_entry& node);
  void hear_of_former(const node_hello& hello);
  [[nodiscard]] bool take(node_id id, const result& r, evaluations& accepted);
  [[nodiscard]] bool take_training(node_id id, const result& r,
                                   const training_result& trained, evaluations& accepted);
  void take_decline(node_id id, const result& r, const std::string& why);
  void take_answer(node_id id, const result& r, test_answer answer);
  void answer_test(const task_id& id, test_answer answer);
  void note_failure(const std::string& slot, const lost_lease& what,
                    const std::string& reason);
  void tell_attempt(const std::string& slot, const lost_lease& what,
                    const std::string& reason) const;
  void say_quarantine(const std::string& slot, const std::string& why) const;
  void give_up(const std::vector<lost_lease>& lost, const std::string& slot,
               const std::string& how);
  void leave_entry(std::map<node_id, node_entry>::iterator node,
                   const std::string& reason);
  void refuse_too_large();
  [[nodiscard]] withdrawn left_to_others() const;
  void hand_back();
  void form_teams();
  void record_stragglers(const evaluation& e, const std::vector<node_id>& members);
  void form(const formed_team& team);
  void forget(const std::vector<node_id>& by, const task_id& done) const;
  void give(node_id id, const std::vector<lease>& leases);
  void give(node_id id, const std::vector<lease>& leases,
            std::map<candidate_id, lineage> starts);
  [[nodiscard]] assignment assign(const lease& l, lineage start);
  [[nodiscard]] std::chrono::milliseconds time_for(const candidate& c);
  /// No result of it is waited for any more; false: none was.
  bool end(candidate_id id);
  [[nodiscard]] std::optional<lease> lease_of(node_id id, std::uint64_t number) const;
  void forget_ended(node_id id, node_entry& node) const;
  [[nodiscard]] blob whole_of(node_entry& node, const result& r, blob_part part) const;
};

dispatcher_actor::behavior_type
dispatcher_behavior(dispatcher_actor::stateful_pointer<dispatcher_state> self,
                    dispatcher_params params);

} // namespace clade
