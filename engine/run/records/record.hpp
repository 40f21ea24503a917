#pragma once

#include "engine/search/core/candidate.hpp"
#include "genome/codec/codec.hpp"
#include "search_spaces/operators/mixture.hpp"

#include <span>
#include <string>
#include <variant>
#include <vector>

namespace clade {

struct test_details;

/// The first record of a run.
struct run_started {
  std::string version{};
  std::string experiment{}; ///< Resolved TOML, all defaults included (engine/config).
  std::uint64_t seed = 0;
  /// The hash of what decides the search: `experiment` less slots and wall time.
  genome_hash search{};
};

/// A candidate was bred; recorded before it is handed out.
struct candidate_born {
  candidate born;
};

/// A candidate was evaluated; recorded before selection sees it. One for each candidate.
struct candidate_evaluated {
  evaluation evaluated;
};

/// Metrics on the held-out test data, of the champion and of what it is compared with.
struct examination {
  /// "champion", "best random candidate", "linear model", "boosted trees",
  /// "random convolutions", "exponential smoothing", "seasonal naive", "final model"
  std::string subject;
  candidate_id id = 0; ///< 0 of what is no candidate.
  std::vector<metric> metrics;
  std::uint64_t parameters = 0;
  /// The details of the test (test_details.hpp); none where no network was trained, and
  /// in runs of before there was such a thing. It does not enter the digest.
  std::shared_ptr<const test_details> details{};
};

/// The end of the search: the champion met the test data.
struct run_finished {
  candidate_id champion = 0; ///< 0: no candidate succeeded.
  std::vector<examination> examinations;
};

/// Observations, which decide nothing and do not enter the digest.
struct run_paused {
  std::string reason; ///< "interrupted", "wall time used"
};
struct run_resumed {
  std::string version;
};
struct attempt_failed {
  candidate_id id = 0;
  std::uint32_t attempt = 0;
  std::string slot;
  std::string reason;
};
struct slot_changed {
  std::string slot;
  bool joined = true;
  std::string reason; ///< Why it left; of one that joined, what its device is.
  /// The rounding of a slot that joined: evaluations on slots of the same rounding have
  /// the same bits (fitness_function). None where all have, and in runs of before there
  /// was such a thing.
  std::optional<std::uint64_t> rounding{};
};

/// A slot of a team that held up the others of a training that is over, or whose gradients
/// came too late to count.
struct straggler_seen {
  candidate_id id = 0;
  std::string slot;
  std::uint64_t waited_ms = 0, of_ms = 0; ///< The others for it, of the training's time.
  /// The steps of all of this slot that did without the last gradients (updates =
  /// "backup").
  std::uint64_t left_out = 0, of_gradients = 0;
};

/// Another experiment decides from here on: the records before are those of another run,
/// its observations left out, up to the start of that generation.
struct run_forked {
  std::string origin{};       ///< That run's folder: "digits-20260131-140500".
  std::uint64_t identity = 0; ///< `store::identity` of its store.
  std::uint64_t sequence = 0; ///< The sequence of the last record that was taken from it.
  std::uint64_t generation = 0;
  std::vector<std::string> changes{}; ///< "evolution.population=32"
  std::string experiment{};           ///< The same as in run_started, and so are these:
  std::uint64_t seed = 0;
  genome_hash search{};
};

/// The kinds of what a person may tell a run.
enum class instruction_kind : std::uint8_t {
  hold = 0,       ///< Hand out nothing more; what is in training goes on.
  go_on = 1,      ///< Ends a hold.
  stop = 2,       ///< Finish and record what is in training, then pause.
  stop_after = 3, ///< The same, once the generation in progress is closed.
  slots = 4,      ///< The head's own machine: `text` is as in `[slots] local`.
  drop = 5,       ///< The open candidate `number` is evaluated as dropped.
  extend = 6,     ///< By `number` generations.
  add = 7,        ///< Evaluate `genome`; `text` says where it comes from.
  note = 8, ///< `text` is the note on candidate `number`, or on the run where that is 0.
  tag = 9,  ///< Gives that candidate, or the run, the tag `text`.
  untag = 10, ///< Takes that tag away.
  /// Adds a genome as `add` does, but before all others: of a run that has not begun.
  begin_with = 11,
};
inline constexpr std::uint64_t instruction_kinds = 12;

struct instruction {
  instruction_kind kind = instruction_kind::hold;
  std::uint64_t number = 0;
  std::string text{};
  std::shared_ptr<const clade::genome> genome{};
};

/// "drop #12", "slots cpu:4".
[[nodiscard]] std::string to_text(const instruction& i);

/// Somebody told the run, and it obeys. To extend it and to add a genome are decisions,
/// which the digest covers; what follows from the others are records of their own.
struct operator_command {
  instruction order;
  std::string who;
};

/// A genome of the search that is trained to the end.
struct final_training {
  candidate_id source = 0;
  std::uint32_t epochs = 0;
  data_fold fold{};
  /// It computes with so many threads, on cores of slots that have nothing to train
  /// meanwhile; none: with one.
  std::optional<std::uint32_t> threads{};
};

/// The search is over, by itself or because its share of the time is used, and this is
/// what is trained at its end: each training is a candidate, born in this order.
struct final_planned {
  std::string reason{};
  /// The limits of what each may take at most; 0: as the experiment says.
  std::uint64_t time_ms = 0;
  std::vector<final_training> trainings{};
  /// Whether one of several folds is no champion: it is judged by other examples than the
  /// candidates of the search. None, as in runs of before there was such a thing: it may be.
  std::optional<bool> folds_apart{};
};

/// A model that is part of an ensemble, and its share of what the ensemble says.
struct ensemble_member {
  /// 0: it is no genome's, and its weights are kept under this number.
  candidate_id id = 0;
  double share = 0;
  double temperature = 1;            ///< Its scores of classes are divided by it.
  std::optional<tree_sizes> trees{}; ///< The sizes of boosted trees.
  /// It says the mean of what it says of an image and of its mirror image. None, as in runs
  /// of earlier versions: it does not.
  std::optional<bool> mirrored{};
  std::optional<convolution_sizes> convolutions{}; ///< The sizes of random convolutions.
  std::optional<bool> smoothing{}; ///< Whether it is exponential smoothing. None: no.

  /// Returns the kind that it is of if its number is 0.
  [[nodiscard]] fitted_kind fitted() const {
    return smoothing.value_or(false) ? fitted_kind::smoothing
                                     : fitted_kind_of(trees, convolutions);
  }

  friend bool operator==(const ensemble_member&, const ensemble_member&) = default;
};

/// "0.25 of #12", "0.250 of the linear model" with 3 digits, "0.25 of boosted trees".
[[nodiscard]] std::string to_text(const ensemble_member& m, int digits);

/// A single model that the final one was chosen from.
struct ranked_model {
  std::string subject; ///< "#12", "the folds of #7", "the linear model".
  candidate_id id = 0; ///< The first of a genome's models; 0: it is of no genome.
  std::vector<metric> metrics{}; ///< "validation.accuracy", and `cross_validation`.
  std::uint64_t parameters = 0;
  double share = 0; ///< Its share of the final model; 0: it is none of its members.

  friend bool operator==(const ranked_model&, const ranked_model&) = default;
};

/// The final model was put together (`composition` in engine/evaluation/composition.hpp).
struct model_composed {
  std::vector<ensemble_member> members{};
  double temperature = 1;              ///< Probabilities are calibrated by it.
  std::vector<metric> metrics{};       ///< "validation.accuracy", and `cross_validation`.
  std::vector<std::string> left_out{}; ///< Models that are not used, and why.
  /// No probability of a class is below it (search_spaces/operators/mixture.hpp). None:
  /// of numbers, of a champion that stands in for all, and in runs of earlier versions.
  std::optional<double> least{};
  /// All single models, the best by the run's objective first. None: of a champion that
  /// stands in for all, and in runs of earlier versions.
  std::optional<std::vector<ranked_model>> models{};
};

/// A model for use while the run is under way was put together from the models of then, on
/// the validation part alone; the last one counts. An observation.
struct interim_composed {
  model_composed model;
};

using record =
    std::variant<run_started, candidate_born, candidate_evaluated, generation_closed,
                 run_finished, run_paused, run_resumed, attempt_failed, slot_changed,
                 run_forked, operator_command, final_planned, model_composed,
                 straggler_seen, interim_composed>;

/// msgpack: [kind, fields...]; grammar at the top of record.cpp. Total, as all decoders.
[[nodiscard]] bytes encode(const record& r);
[[nodiscard]] expected<record> decode_record(std::span<const char> data);

/// Parts of records that messages carry too. The decoding ones report through
/// `d.finish()`.
void encode(encoder& out, const std::vector<metric>& metrics);
void encode(encoder& out, const std::vector<candidate_id>& ids);
void encode(encoder& out, const candidate& c);
void encode(encoder& out, const evaluation& e);
void encode(encoder& out, const epoch& e);
void encode(encoder& out, const examination& e);
void encode(encoder& out, const instruction& i);
[[nodiscard]] std::vector<metric> decode_metrics(decoder& d);
[[nodiscard]] std::vector<candidate_id> decode_ids(decoder& d);
[[nodiscard]] outcome decode_outcome(decoder& d);
/// A number that must fit 32 bits; `what` it is, for the error.
[[nodiscard]] std::uint32_t decode_small(decoder& d, const char* what);
[[nodiscard]] candidate decode_candidate(decoder& d);
[[nodiscard]] evaluation decode_evaluation(decoder& d);
[[nodiscard]] epoch decode_epoch(decoder& d);
[[nodiscard]] examination decode_examination(decoder& d);
[[nodiscard]] instruction decode_instruction(decoder& d);

/// The bytes of a record that the digest covers; empty for observations.
[[nodiscard]] bytes decisive_bytes(const record& r);

/// A line: "born #12 generation 1 from #3: widen n3f2a1".
[[nodiscard]] std::string to_text(const record& r);

/// One number over all decisions of a run, in whatever order evaluations arrived: the sum
/// of the records' 128-bit hashes. The signature test (engine/README.md) compares it with
/// a constant.
struct digest {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  std::uint64_t records = 0;

  void add(const record& r);
  friend bool operator==(const digest&, const digest&) = default;
};

[[nodiscard]] std::string to_text(const digest& d);

} // namespace clade
