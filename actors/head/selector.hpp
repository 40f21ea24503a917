#pragma once

#include "actors/messages/protocol.hpp"
#include "engine/run/steps/run_course.hpp"
#include "engine/telemetry/socket/publisher.hpp"

#include <functional>
#include <memory>
#include <set>
#include <vector>

namespace clade {

struct selector_params {
  archive_actor archive;
  dispatcher_actor dispatcher;
  std::vector<generator_actor> generators;
  /// The fold of what is recorded already; moved out by the selector.
  std::shared_ptr<run_state> run;
  /// Gets `run_over` once.
  caf::actor watcher;
  /// Whether the head's own machine can have such slots, and whether such a genome fits
  /// the search: why not, or empty. `change_slots` has it have them.
  std::function<std::string(const instruction&)> refuses;
  std::function<void(const std::string& slots)> change_slots;
  /// The trainings at the end of the run are planned by the time that is left, 0 being as
  /// long as it takes, and by the epochs of a full training in the search.
  std::function<std::chrono::milliseconds()> time_left = {};
  std::uint32_t epochs = 1;
  std::uint32_t devices = 1; ///< Slots that a training takes together.
  bool with_trees = false;   ///< The final model may hold boosted trees.
  /// Shows viewers what was applied, if set.
  std::function<void(recorded)> show;
};

/// Folds the records of the run and does what `due_steps` says. Everything goes the same
/// way: it becomes a record, the archive answers that the disk has it, it is applied, and
/// only then acted on. One append is under way at a time; what comes meanwhile goes with
/// the next, so that the slower the disk, the more records share a transaction.
///
/// How far the run has come, and what moves it on, stands in `engine/run/steps/run_course.hpp`
/// with a table; the functions there decide.
struct selector_state {
  selector_actor::stateful_pointer<selector_state> self = nullptr;
  selector_params params;
  run_state run;
  run_course course;
  under_way present;

  std::vector<entry> unrecorded;
  std::map<candidate_id, blob>
      unrecorded_checkpoints; ///< The checkpoints of evaluations among them.
  /// The archive is writing these; null: it writes nothing.
  std::shared_ptr<const std::vector<entry>> in_flight;
  std::size_t tidied = 0; ///< Generations that were closed when checkpoints were tidied.

  std::vector<bred> arrived;   ///< From the generators, to be resolved.
  std::vector<bred> held_back; ///< Resolved again when those before them are born.
  std::size_t next_generator = 0;

  std::size_t tests_out = 0;
  run_finished final_record;
  std::optional<std::string> end_wanted; ///< Why, once a candidate has succeeded.
  std::optional<composition> composed;   ///< Recorded with the end of the run.
  interim_course interim;                ///< One is under way until it is recorded.
  /// Candidates that may be part of it: their weights are kept until then.
  std::vector<candidate_id> interim_members;

  std::string stop_after; ///< Who wants it to stop once the generation is closed.
  std::string stop_reason;
  std::set<candidate_id> withdrawn_ids; ///< Open, but handed back by the dispatcher.
  std::optional<error> failure;

  void start();
  void take(const evaluations& message);
  void observe(const observation& message);
  /// `stop_run`. Stopping once more without `may_end` takes that back.
  void stop(const std::string& reason, bool may_end = false, bool hands_back = false);
  void take(const withdrawn& back);
  void take(const clade::end_search& message);
  /// Why it will not, or empty.
  std::string obey(const told& message);
  void fail(error why);
  [[nodiscard]] run_progress progress(std::size_t from_generation) const;

private:
  void advance();
  void order(std::vector<breeding> orders);
  void take_back_held();
  void resolve_arrived();
  void copy(const clade::copying& step);
  void plan_end(const std::string& reason);
  void drop_open(bool planned = false);
  void compose();
  void compose_interim();
  void take_interim(const test_answer& answer);
  using members_handler =
      std::function<void(const std::shared_ptr<std::vector<trained_member>>&)>;
  /// `then` gets the members with their weights.
  void collect_weights(std::shared_ptr<std::vector<trained_member>> all, std::size_t next,
                       const members_handler& then);
  /// `why`: what kept more models from being put together; empty: nothing did.
  void request_composition(std::shared_ptr<std::vector<trained_member>> all,
                           const std::string& why = {});
  void request_composition(std::shared_ptr<std::vector<trained_member>> all,
                           const std::string& why, std::size_t cores);
  [[nodiscard]] std::size_t cores_of(const slots_view& view) const;
  void compose_fewer(const std::shared_ptr<std::vector<trained_member>>& all,
                     const std::string& why);
  void compose_champion(const std::string& why);
  void finish();
  void test_champion();
  /// Returns the time that is left; 0: as much as it takes.
  [[nodiscard]] std::chrono::milliseconds time_left() const;
  /// Whether no more than that is left.
  [[nodiscard]] bool late(std::chrono::milliseconds needed) const;
  void request_test(std::string subject, assignment what);
  void note(record r, blob weights = {});
  void test(const std::string& subject, const individual& who);
  void flush();
  void applied(const recorded& r);
  void submit(const std::vector<candidate_id>& ids);
  void apply_one(const record& r);
  void pause_if_idle();
  void end();
  void carry_out(const operator_command& told);
};

selector_actor::behavior_type
selector_behavior(selector_actor::stateful_pointer<selector_state> self,
                  selector_params params);

} // namespace clade
