#pragma once

#include "engine/run/steps/next_step.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace clade {

/// How far a live run has come.
enum class run_stage : std::uint8_t {
  searching, ///< Candidates are bred and evaluated.
  ending,    ///< The trainings of the end are planned or made; nothing more is bred.
  finishing, ///< The champion is examined; `run_finished` is to be recorded.
  pausing,   ///< `run_paused` is being recorded.
  over       ///< Finished, paused or failed.
};

/// Whether somebody wants the run to stop.
enum class stop_wish : std::uint8_t {
  none,
  end_if_complete, ///< It pauses, or ends if by then all that it needs is evaluated.
  pause
};

/// Whether the dispatcher was asked which candidates no node has, and has not answered.
enum class withdrawal : std::uint8_t { settled, asked };

/// Whether a person holds the run, so that no candidate is handed out.
enum class handing_out : std::uint8_t { on, held };

/// The state of a live run that its records do not say. A record that was decided on is
/// first written and then applied; the stage follows what was decided.
///
///     stage      event                                              next stage
///     ---------  -------------------------------------------------  ----------
///     searching  the end is to be planned: the search is complete,  ending
///                or its time is used
///     searching  all is done, in a run without trainings at the     finishing
///                end
///     ending     all is done                                        finishing
///     finishing  somebody wants it to stop                          searching, or ending
///                                                                   if there is a plan
///     searching, it is to stop, and neither a node nor the disk is  pausing
///     ending     at work for it
///     any        run_finished or run_paused is recorded, or         over
///                something failed
///
///     wish             event                                wish after
///     ---------------  -----------------------------------  ---------------
///     none             stop, unless complete                end_if_complete
///                      (passed over while it finishes)
///     any              stop                                 pause
///     end_if_complete, stop, unless complete                unchanged
///     pause
///
///     withdrawal       event                                withdrawal after
///     ---------------  -----------------------------------  ----------------
///     any              the first stop, or one that hands    asked
///                      back what nodes have
///     asked            the dispatcher answers               settled
///
/// `handing_out` changes when a hold, or its end, is recorded.
struct run_course {
  run_stage stage = run_stage::searching;
  stop_wish stop = stop_wish::none;
  clade::withdrawal withdrawal = clade::withdrawal::settled;
  clade::handing_out handing_out = clade::handing_out::on;

  [[nodiscard]] bool over() const { return stage == run_stage::over; }
  [[nodiscard]] bool stopping() const { return stop != stop_wish::none; }
  [[nodiscard]] bool finishing() const { return stage == run_stage::finishing; }
  /// Returns whether candidates may be ordered and born.
  [[nodiscard]] bool breeds() const {
    return stage == run_stage::searching && !stopping();
  }

  friend bool operator==(const run_course&, const run_course&) = default;
};

/// "searching", "ending, to pause, withdrawal asked, held".
[[nodiscard]] std::string to_text(const run_course& course);

/// Returns the course of a run that goes on from its records.
[[nodiscard]] run_course course_of(const run_state& run);

/// The decisions that are not applied yet. `next_step` says it again until it is.
struct under_way {
  candidate_id ordered = 0;       ///< Orders up to this id are with generators, or born.
  candidate_id accepted = 0;      ///< Births up to this id are decided.
  std::size_t closed = 0;         ///< So many generations are decided to be closed.
  std::set<candidate_id> copying; ///< Their evaluations are being copied.
};

/// Returns what is under way when a run goes on from its records: nothing but births and
/// closings that were applied.
[[nodiscard]] under_way nothing_under_way(const run_state& run);

/// Returns whether offspring may be resolved: earlier births were applied.
[[nodiscard]] bool may_resolve(const run_state& run, const run_course& course,
                               const under_way& present);

/// Returns what is to be done now: the next steps that the course allows and that are not
/// under way.
[[nodiscard]] next_steps due_steps(const run_state& run, const run_course& course,
                                   const under_way& present);

/// The consequence of being told to stop.
enum class stop_answer : std::uint8_t {
  passed_over,
  noted,    ///< Look again at what is due.
  withdraws ///< Ask the dispatcher what no node has.
};

/// Changes the course of a run that is told to stop. `end_if_complete` as in `stop_wish`;
/// `hands_back`: what nodes give back from now on is not waited for.
[[nodiscard]] stop_answer told_to_stop(run_course& course, const run_state& run,
                                       bool end_if_complete, bool hands_back);

/// The consequence of being told that the time of the search is used.
enum class end_answer : std::uint8_t {
  passed_over,
  waits_for_success, ///< No candidate succeeded: there is nothing to train to its end.
  plans,
  drops_trainings ///< The trainings of the plan are dropped.
};

/// `trainings_too`: the time of the planned trainings is used as well.
[[nodiscard]] end_answer told_to_end(const run_course& course, const run_state& run,
                                     bool trainings_too);

/// Returns whether a run that is to stop can pause now. It waits for what nodes have in
/// training. A candidate that waits for a node (`withdrawn`), or for a copy, stays open
/// in the store, where resume finds it. The caller has nothing on its way to the disk.
[[nodiscard]] bool may_pause(const run_state& run, const run_course& course,
                             const under_way& present,
                             const std::set<candidate_id>& withdrawn);

/// Returns why a run stops now that `generation` is closed, or nothing. `stop_after` is who
/// wanted it to stop after a generation, or empty.
[[nodiscard]] std::optional<std::string> why_stop_after(const run_state& run,
                                                        std::uint64_t generation,
                                                        const std::string& stop_after);

/// Returns why the run does not obey a person, or an empty text. Whether this machine can
/// have certain slots, and whether a genome fits the search, is not looked at.
[[nodiscard]] std::string why_not(const run_state& run, const run_course& course,
                                  const instruction& order);

/// Returns the candidates whose weights a run keeps, besides those that it has not judged.
[[nodiscard]] std::vector<candidate_id> weights_to_keep(const run_state& run);

/// Checkpoints that stay: of these candidates, and of all after `last`.
struct kept_checkpoints {
  std::vector<candidate_id> of;
  candidate_id last = 0;
};

/// Returns the checkpoints that a run needs when a generation has been closed: of those that
/// may breed, of those that open candidates start from, and of the last two generations'
/// worth of candidates, among which are those that the strategy has not heard of. A
/// strategy that starts from another one after all has that one trained again.
[[nodiscard]] kept_checkpoints checkpoints_to_keep(const run_state& run);

/// Returns the open candidates that nobody needs any more: those of the search once its end
/// is planned, and those that were planned too if `planned`.
[[nodiscard]] std::vector<candidate_id> open_to_drop(const run_state& run, bool planned);

/// Returns how many of the planned trainings are not done.
[[nodiscard]] std::size_t open_trainings(const run_state& run);

/// Says when interim models are put together, of runs that end in an ensemble: the first once
/// a candidate has succeeded, and then after ever longer times, as models change less and
/// less. `predict` takes the last one while the run is under way, and if the run is killed it
/// is what is left.
class interim_course {
public:
  /// Returns how long an interim model may take that is begun now; nothing: none is due.
  /// `left` is left of the run's time; 0: there is no limit.
  [[nodiscard]] std::optional<std::chrono::milliseconds>
  begin(const run_state& run, const run_course& course, std::chrono::milliseconds left);
  void end() { under_way_ = false; }
  /// Returns whether one was begun and has not ended.
  [[nodiscard]] bool under_way() const { return under_way_; }

private:
  std::size_t due_ = 0; ///< Generations and trainings of the end until the next.
  bool under_way_ = false;
};

/// A model that is examined at the end of a run, and under which name.
struct examined_model {
  std::string subject; ///< "champion", "best random candidate".
  individual who;
};

/// Returns the models that meet the test data: the champion, and the best of the random
/// candidates of generation 0 if that is another. A run without a champion has none.
[[nodiscard]] std::vector<examined_model> models_to_examine(const run_state& run);

} // namespace clade
