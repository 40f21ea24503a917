#pragma once

#include "engine/run/records/annotations.hpp"
#include "engine/run/records/record.hpp"
#include "engine/run/state/failure_ways.hpp"
#include "engine/run/state/final_stage.hpp"
#include "engine/run/state/summary.hpp"
#include "engine/search/core/known_networks.hpp"
#include "engine/search/core/strategy.hpp"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace clade {

/// The rules that the fold needs beforehand; from the experiment that the first record
/// holds.
struct run_rules {
  evolution_params evolution;
  clade::objective objective;
  std::uint64_t seed = 0;
  /// The metrics that selection by lexicase compares individuals by; else empty.
  std::vector<aim> cases{};
  /// The space that genomes are made of.
  std::shared_ptr<const search_space> space{};
  /// These turn the search into a model at its end.
  final_params final_stage{};
  /// Reads the rules that hold after a fork from its experiment. Without it a fork does
  /// not fit.
  std::function<expected<run_rules>(const run_forked& forked)> read_fork{};
};

/// Whether a run by the one set of rules may go on by the other: the same strategy, order
/// of telling and objective, and generations left.
[[nodiscard]] expected<void> check_fork(const run_rules& before, const run_rules& after,
                                        std::uint64_t generation);

/// A model that was trained to the end.
struct final_model {
  individual who;
  data_fold fold{};
  candidate_id bag = 0; ///< The candidate of the first fold of the same genome.
};

/// A run is the fold of its records: this is what it folds to. The live run, resume and
/// replay call `apply` alike. Its size depends on the population and not on how many
/// candidates there were, but for 16 bytes a known network and a summary a generation.
struct run_state {
  run_rules rules;
  std::unique_ptr<strategy> search;
  /// Born, not evaluated; and those of them whose evaluation is to be a copy
  /// (`equal_to`).
  std::map<candidate_id, candidate> open;
  std::set<candidate_id> copies;
  known_networks known;
  /// The fittest so far that did not fail, as `keep_best` keeps them, each network once;
  /// and the best of generation 0's random candidates. Each is a model whose fitness was
  /// measured, so one that was trained for few epochs counts like any other: of a genome
  /// on several rungs that is kept which did best, the first of equals. The best random
  /// one may be one that was trained on.
  std::vector<individual> best;
  std::optional<individual> best_random;
  /// Seeds of the space that were trained too shortly to tell how good they are
  /// (`learning_speed::proven`).
  std::vector<individual> seeds;
  /// The networks of generation 0's random candidates.
  std::set<genome_hash> random_networks;
  /// With several objectives: those that none dominates, the fitter first, at most
  /// `kept_front`, without their genomes; and the box of their hypervolume, once a
  /// generation is closed in which one succeeded.
  std::vector<individual> front;
  std::optional<hypervolume_box> box;
  std::vector<generation_summary> generations;
  std::uint64_t born = 0, evaluated = 0, failed = 0;
  /// Since the run was started or resumed, or a candidate succeeded.
  failure_ways failures;
  double training_seconds = 0;
  clade::digest digest;
  /// The plan of the trainings at the end, once it is made; the individual whose genome
  /// each of them trains; and how many of them were born.
  std::optional<final_planned> plan;
  std::vector<individual> sources;
  std::size_t planned_born = 0;
  std::vector<final_model> finals; ///< Trainings of the plan that did not fail.
  std::optional<model_composed> composed;
  std::optional<model_composed> interim; ///< The last one.
  std::optional<run_finished> finished;
  /// Notes and tags, without their times: the fold is not told when a record was written.
  annotations annotated;
  bool started = false;

  /// Evaluated and in no summary yet, in the order in which they arrived.
  std::vector<individual> current;

  /// Returns the genomes that may be trained to the end: the best, and then those of the
  /// seeds that are none of them.
  [[nodiscard]] std::vector<individual> for_the_end() const;
  /// Whether nothing more is bred.
  [[nodiscard]] bool search_over() const { return plan || search->finished(); }
  /// Whether to stop breeding, of a search that is not over: what failed since the start or
  /// a resume failed alike (`failure_ways::hopeless`), and none ever succeeded.
  [[nodiscard]] bool hopeless() const;
  /// The next training of the plan as a candidate, or the one after so many more; none: all
  /// are born.
  [[nodiscard]] std::optional<candidate> next_final(std::size_t after = 0) const;
};

[[nodiscard]] expected<run_state> make_run_state(const run_rules& rules);

/// Folds one record in. An error (`corrupt`) means that these are not the records of one
/// run in their order: a candidate born twice, out of order or of other parents than
/// selection draws, an evaluation of none that is open, a generation closed with other
/// survivors than selection finds, an end before the search is over, a fork elsewhere
/// than at the start of its generation. The state is then as it was.
[[nodiscard]] expected<void> apply(run_state& state, const record& r);

/// Lines: what was counted, the best, who may breed, what is open.
[[nodiscard]] std::string to_text(const run_state& state);

} // namespace clade
