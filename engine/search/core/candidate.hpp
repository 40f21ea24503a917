#pragma once

#include "genome/genes/genome.hpp"
#include "genome/variation/change.hpp"

#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace clade {

/// Candidates are numbered in the order in which they are born, from 1.
using candidate_id = std::uint64_t;

/// The scores of a network before any training; a score that is no finite number is
/// absent. The header engine/training/loop/zero_cost.hpp says what each is.
struct zero_cost_scores {
  std::optional<double> synflow{}, jacob_cov{}, grad_norm{};

  friend bool operator==(const zero_cost_scores&, const zero_cost_scores&) = default;
};

/// The examples of a training at the end of a run. With `of` of 2 or more, the validation
/// part (of few examples, that and the training part) is dealt into so many folds; the
/// training leaves out fold `index`, is validated by it, and has all others. 1: the parts
/// are as always. 0: it is no training of the end.
struct data_fold {
  std::uint32_t index = 0;
  std::uint32_t of = 0;

  friend bool operator==(const data_fold&, const data_fold&) = default;
};

/// No training computes with more threads.
inline constexpr std::uint32_t most_threads = 1024;

/// A genome that is to be evaluated, and where it comes from.
struct candidate {
  candidate_id id = 0;
  std::uint64_t generation = 0;
  std::uint64_t index = 0; ///< Within its generation.
  std::uint64_t attempt =
      0; ///< How many equal networks were bred before it in its place.
  std::shared_ptr<const clade::genome> genome;
  genome_hash network;               ///< canonical_hash(*genome)
  std::vector<candidate_id> parents; ///< The fitter first; none for a random one.
  std::vector<change> changes;       ///< The changes that made it; `to_text` of them is
                                     ///< its origin, for people.
  double work = 0; ///< Estimated cost of its training for one example and epoch, in
                   ///< multiply-adds; the longest is handed out first.
  candidate_id equal_to = 0; ///< The oldest candidate with an equal network, whose
                             ///< evaluation is copied; 0: it is to be trained.
  std::uint32_t epochs = 0;  ///< It is trained for so many in all; 0: as many as the
                             ///< experiment says.
  candidate_id start = 0; ///< The candidate whose weights its training starts from. One
                          ///< with the same network goes on where that one's training
                          ///< stopped; another takes over the weights of the genes that
                          ///< they share. 0: from new ones.
  std::uint32_t start_epoch = 0; ///< So many epochs of `start`'s training are its own
                                 ///< too: it goes on there. 0: it takes over weights
                                 ///< alone. Not recorded: the epochs of `start`, if it
                                 ///< has epochs itself (see `start_epoch_of`).
  /// Set where the search is over and the genome of its parent is trained to the end
  /// (engine/run/state/final_stage.hpp).
  data_fold fold{};
  std::uint32_t threads = 1; ///< Such a training computes with so many.
  /// Such a training may take so long; 0: as the experiment says. It is not recorded here,
  /// since the plan of the end has it.
  std::chrono::milliseconds time{0};
  /// The scores of zero cost, if `evolution_params::zero_cost` asks for them: its own,
  /// and those of all networks that were looked at to breed it, its own among them, in
  /// that order and over all attempts.
  zero_cost_scores zero_cost{};
  std::vector<zero_cost_scores> looked_at{};
};

/// Returns the hash that two candidates share of which one is trained: the network, and
/// how far and from where it is trained. For one that is trained for as long as the
/// experiment says, it is the network alone, whatever weights it takes over.
[[nodiscard]] genome_hash training_of(const candidate& c);

/// "#12 generation 1 from #3 #2: widen n3f2a1".
[[nodiscard]] std::string to_text(const candidate& c);

enum class outcome : std::uint8_t {
  succeeded = 0,
  diverged = 1,      ///< Loss or a metric became NaN or infinite.
  timed_out = 2,     ///< Over the experiment's limits.evaluation_time.
  out_of_memory = 3, ///< Over limits.evaluation_memory, or the device's.
  crashed = 4,       ///< Killed two node processes, or ended its program badly.
  invalid = 5,       ///< Could not be built.
  dropped = 6,       ///< Taken out by a person.
};

[[nodiscard]] const char* to_text(outcome o);

struct metric {
  std::string name; ///< "validation.accuracy"
  double value = 0;

  friend bool operator==(const metric&, const metric&) = default;
};

[[nodiscard]] std::optional<double> find(const std::vector<metric>& metrics,
                                         std::string_view name);

struct epoch {
  std::uint32_t number = 0; ///< From 1.
  std::vector<metric> metrics;
  double seconds = 0;

  friend bool operator==(const epoch&, const epoch&) = default;
};

/// How much a branch of a trained network matters to it
/// (engine/training/loop/branch_importance.hpp).
struct branch_importance {
  std::string gene;      ///< The innovation in full of the node that has the branch.
  std::string parameter; ///< The parameter of its operator that says which branch it is.
  double importance = 0; ///< Finite and not below 0; 0 is no matter at all.

  friend bool operator==(const branch_importance&, const branch_importance&) = default;
};

/// The outcome of a candidate. The first part is a pure function of (candidate, data,
/// seed, threads) for whatever did not fail by time or memory, and enters the digest; the
/// second is what was observed.
struct evaluation {
  candidate_id id = 0;
  clade::outcome outcome = clade::outcome::succeeded;
  /// The metrics of the epoch that is kept; sorted by name; finite.
  std::vector<metric> metrics;
  std::uint64_t parameters = 0;
  std::uint64_t weights_hash = 0;
  candidate_id equal_to =
      0; ///< Copied from this candidate, whose network is equal; 0: trained.

  /// Why it failed, one line; of a success, how its time was short.
  std::string reason;
  std::vector<epoch> curve;
  double seconds = 0; ///< Inside training and evaluation.
  std::string slot;   ///< "node1/cpu:0"
  std::uint32_t tries = 1;
  /// The log of what timing decided: which updates came first in a training with
  /// asynchronous ones, or where its rates followed the clock. A training that is given it
  /// makes the same weights again, bit for bit.
  std::optional<std::vector<std::uint8_t>> updates{};
  /// The importances of the branches of its network, if the strategy asks for them: as much
  /// a function of candidate, data, seed and threads as metrics are. They enter the digest by
  /// what is bred of them.
  std::optional<std::vector<branch_importance>> branches{};
};

/// Sets outcome and reason, and takes the metrics away.
void fail_with(evaluation& e, outcome o, std::string reason);

/// The evaluation of a candidate whose network equals that of `original`: the first part
/// of it and the reason, `equal_to` set, and nothing observed.
[[nodiscard]] evaluation copy_for(candidate_id id, const evaluation& original);

/// "#12: succeeded, validation.accuracy=0.97 validation.loss=0.11".
[[nodiscard]] std::string to_text(const evaluation& e);

/// The values that selection compares: ok before not ok, then the smaller `violation`,
/// then greater `primary`, then greater `secondary`, then the smaller id. Never NaN.
struct fitness {
  bool ok = false;
  double primary = -std::numeric_limits<double>::infinity();
  double secondary = -std::numeric_limits<double>::infinity();
  /// If there are several objectives: all of them, the primary first, each to be raised.
  /// Empty where there is one.
  std::vector<double> objectives{};
  /// By how much the constraints are missed, summed; each as a share of its limit. 0: it
  /// is feasible.
  double violation = 0;

  friend bool operator==(const fitness&, const fitness&) = default;
};

/// The costs of every network beside the metrics of its training. The metric "parameters"
/// is that of the evaluation, but where a table has one of that name; the others are
/// among its metrics if the run's objective asks for them. multiply_adds: of one example,
/// decoded. latency_ms: of one example, on the slot; measured, so that a search by it
/// repeats from its records alone.
inline constexpr std::string_view parameters_metric = "parameters";
inline constexpr std::string_view multiply_adds_metric = "multiply_adds";
inline constexpr std::string_view latency_metric = "latency_ms";

/// A metric that is to be raised or lowered.
struct aim {
  std::string metric;
  bool maximize = true;

  friend bool operator==(const aim&, const aim&) = default;
};

/// The limit that a candidate must keep to. Whoever does comes before whoever does not,
/// and of those the one that misses by less (Deb, "An efficient constraint handling
/// method for genetic algorithms", 2000).
struct constraint {
  std::string metric;
  double limit = 0;
  bool at_most = true; ///< Else at least.

  friend bool operator==(const constraint&, const constraint&) = default;
};

/// `[objective]`: one metric to be raised or lowered, ties going to the lower
/// validation.loss; or several, of which this is the first. The first names the champion:
/// the best in it among the feasible. The result of a search with several is its front.
struct objective {
  std::string metric = "validation.accuracy";
  bool maximize = true;
  std::vector<aim> others{};
  std::vector<constraint> constraints{};

  friend bool operator==(const objective&, const objective&) = default;
};

/// All, the first one first.
[[nodiscard]] std::vector<aim> aims_of(const objective& o);

/// Whether an aim or a constraint is about that metric.
[[nodiscard]] bool asks_for(const objective& o, std::string_view metric);

/// Returns the objective that tells the epochs of one training apart: the first aim that
/// is measured at each of them, else a lower validation.loss, and no constraint.
[[nodiscard]] objective of_epochs(const objective& o);

/// A metric of the evaluation; "parameters" is its own where no metric has that name.
[[nodiscard]] std::optional<double> measured(const evaluation& e,
                                             std::string_view metric);

/// Returns the value as people read it: the sign that fitness turns is turned back.
[[nodiscard]] double as_measured(double raised, bool maximize);

/// "validation.accuracy raised, parameters lowered, latency_ms at most 2.0".
[[nodiscard]] std::string to_text(const objective& o);

/// Not ok if the outcome is a failure, or a metric of an aim or a constraint is missing
/// or not finite.
[[nodiscard]] fitness fitness_of(const evaluation& e, const objective& o);

/// The speed at which a genome learns, as one training shows it
/// (engine/run/state/learning_speed.hpp).
struct learning_speed {
  double seconds = 0;            ///< The seconds that it took.
  std::optional<double> error{}; ///< Its distance to the best there can be.
  double exponent = 0;           ///< The error falls with the time to this power.
  bool proven = false;           ///< It is of a seed, and its curve is too short to tell.
};

/// One of a population: all that selection and breeding need.
struct individual {
  candidate_id id = 0;
  std::shared_ptr<const clade::genome> genome;
  clade::fitness fitness;
  std::uint64_t parameters = 0; ///< The parameters of its network.
  std::uint32_t epochs = 0;     ///< The epochs, as in `candidate`.
  candidate_id trained = 0;     ///< The candidate whose training it is: another one if
                                ///< its evaluation is a copy. 0: its own.
  /// The cases that it is good at, one value for each metric, greater is better: where
  /// selection is by lexicase (`cases_of`).
  std::vector<double> cases{};
  zero_cost_scores zero_cost{};              ///< The scores, as in `candidate`.
  std::vector<branch_importance> branches{}; ///< Its evaluation has them; or none.
  double seconds_per_epoch = 0; ///< The seconds of its training; 0 if it had no epochs.
  learning_speed learning{};
};

/// The metrics in the order of `by`, each to be raised: those to be lowered are negated.
/// A failed evaluation has none; one that is missing or not finite is minus infinity.
[[nodiscard]] std::vector<double> cases_of(const evaluation& e,
                                           const std::vector<aim>& by);

/// A strict order, best first; equal fitness goes to the older.
[[nodiscard]] bool fitter(const individual& a, const individual& b);

/// "#2=0.9 #1=0.5 #3=failed".
[[nodiscard]] std::string to_text(const std::vector<individual>& population);

/// A generation is complete; parents are drawn from these, best first.
struct generation_closed {
  std::uint64_t generation = 0;
  std::vector<candidate_id> survivors;
};

} // namespace clade
