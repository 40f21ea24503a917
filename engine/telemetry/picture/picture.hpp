#pragma once

#include "engine/run/records/annotations.hpp"
#include "engine/run/state/run_state.hpp"
#include "engine/search/core/pareto.hpp"
#include "engine/store/run/overview.hpp"

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace clade {

struct experiment;

/// A slot's process, from when it joined.
struct slot_stay {
  std::string slot;
  std::int64_t joined_ms = 0;
  std::optional<std::int64_t> left_ms; ///< None: it is there.
  std::string reason;                  ///< Why it left.
};

/// A generation in numbers, and when it was.
struct generation_line {
  generation_summary summary;
  std::int64_t born_ms = 0, closed_ms = 0;
  std::uint64_t closed_sequence = 0; ///< The sequence of the record that closed it.
};

/// How far a run is, as the records say, which cannot know of a process that was killed;
/// `held` by a person.
enum class picture_state : std::uint8_t { created, running, held, paused, finished };

/// "created", "running" ...
[[nodiscard]] const char* to_text(picture_state s);
/// None: no state has this text.
[[nodiscard]] std::optional<picture_state> parse_picture_state(std::string_view text);

/// A picture is what viewers show of a run: the part of its fold that is for people. The
/// head's publisher, viewers of a live run, replay and views of a store fold the same
/// records into it by the same `apply`, with the same functions as `run_state`. Its size
/// grows by a line a generation, and with the front.
struct run_picture {
  /// The sequence of the last record folded in; they count from 1.
  std::uint64_t sequence = 0;
  /// When the last one was recorded that is no note or tag.
  std::int64_t unix_ms = 0;

  std::string version;
  std::string experiment; ///< Resolved TOML.
  run_rules rules;        ///< The rules of the experiment.
  std::string named_by;   ///< The name, as in `evaluator_traits`.
  /// Generations beyond those of the experiment, by order of a person.
  std::uint64_t extended = 0;
  std::int64_t started_ms = 0;
  picture_state state = picture_state::created;
  std::string reason; ///< Why it paused.

  std::uint64_t generation = 0; ///< The latest with a candidate.
  std::uint64_t born = 0, evaluated = 0, failed = 0;
  double training_seconds = 0;
  std::map<clade::outcome, std::uint64_t> outcomes;
  clade::digest digest;

  std::vector<generation_line> generations; ///< Closed ones, in order.
  std::vector<candidate_line> best;         ///< The same as `run_state::best`.
  /// Fitness against parameters: by rising parameters, none worse than another in both.
  /// With several objectives: those that none dominates, the fitter first, at most
  /// `kept_front`.
  std::vector<candidate_line> front;
  /// With several objectives, once a generation is closed in which one succeeded.
  std::optional<hypervolume_box> box;
  std::deque<candidate_line> latest;           ///< Evaluations, the latest last.
  std::map<candidate_id, candidate_line> open; ///< Born, not evaluated.
  std::vector<slot_stay> slots;                ///< In the order in which they joined;
                                               ///< of those that left the last few.
  std::deque<attempt_failed> attempts;         ///< The latest last.
  std::optional<run_finished> finished;
  /// The final model, or while there is none the last interim one.
  std::optional<model_composed> composed;
  bool composed_interim = false;
  bool folds_apart = false; ///< `final_planned::folds_apart`.
  /// The trainings at the end of the run: how many are planned and evaluated, and the
  /// generation that they are in; 0: none is born.
  std::uint64_t final_trainings = 0, final_evaluated = 0, final_generation = 0;
  annotations annotated;

  static constexpr std::size_t kept_latest = 64, kept_gone = 64;

  /// The individuals of which the summaries of generations in progress will be made.
  std::vector<individual> current;
  std::map<std::uint64_t, std::int64_t> generation_born_ms;
};

/// Takes what a picture has of its experiment.
void take_experiment(run_picture& p, const experiment& e);

/// Folds in the record that comes next. An error (`corrupt`) means that it is none of
/// this run's: its experiment cannot be read, or it is of a candidate that is not open.
[[nodiscard]] expected<void> apply(run_picture& picture, std::int64_t unix_ms,
                                   const record& r);

} // namespace clade
