#pragma once

#include "engine/data/reading/data_set.hpp"
#include "engine/evaluation/registry.hpp"
#include "engine/run/state/run_state.hpp"
#include "engine/training/asked/training_params.hpp"
#include "search_spaces/operators/search_space.hpp"

#include <chrono>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace clade {

/// `[limits]`
struct limits_params {
  /// One evaluation's; longer ones are cut or end as timed_out. 0: unlimited.
  std::chrono::milliseconds evaluation_time{std::chrono::minutes(10)};
  /// Bytes for one evaluation; more ends it as out_of_memory. 0: what the machine has.
  std::uint64_t evaluation_memory = 0;
  /// The run's: it pauses when this is used and can be resumed. 0: unlimited.
  std::chrono::milliseconds wall_time{0};
};

[[nodiscard]] expected<void> validate(const limits_params& params);

/// `[slots]`
struct slots_params {
  /// "auto" (GPUs, else cores), "none" (others train), "cpu:N" or "N" (N slots), "cuda"
  /// (all GPUs), or a list as text: "cuda:0,cuda:1*2,cpu:2" (two slots on one GPU).
  std::string local = "auto";
  /// "10.0.0.1:4700": where workers of other machines join. Empty: nowhere.
  std::string listen;
};

[[nodiscard]] expected<void> validate(const slots_params& params);

/// One experiment file, resolved.
struct experiment {
  std::string name;
  std::uint64_t seed = 1;
  /// `[experiment] fitness` and the section that bears its name.
  shared_evaluator_spec evaluator = evaluator_kinds().front();
  data_params data; ///< Read where networks are trained.
  /// The problem that the networks of an experiment without data must fit: for a
  /// synthetic one, the shape and classes of `[data]`.
  problem synthetic_problem{.input = {}, .outputs = 10};
  /// Whether such a `[data]` was there, where it need not be.
  bool shaped = false;
  search_space space;
  std::string space_place;   ///< "x.toml:8", where it is named, for messages.
  std::string devices_place; ///< The same of training.devices.
  clade::objective objective;
  evolution_params evolution;
  /// Whether the file leaves `evolution.in_flight` open (`choose_in_flight`). A resolved
  /// experiment always gives it.
  bool in_flight_open = false;
  training_params training;
  limits_params limits;
  slots_params slots;
  final_params final_stage; ///< Read where networks are trained.

  /// The traits of the kind of its evaluator.
  [[nodiscard]] const evaluator_traits& traits() const { return evaluator->traits(); }
};

/// Returns the candidates in flight of a strategy without generations where nobody gives
/// their number: a third of the population, at least four, at most all of it.
[[nodiscard]] std::size_t usual_in_flight(std::uint64_t population);

/// Returns as many, or as many as so many slots can train at once, at most the population:
/// for runs that end by the clock, of which no two are equal anyway.
[[nodiscard]] std::size_t busy_in_flight(const experiment& e, std::size_t slots);

/// Gives a strategy without generations its candidates in flight where the experiment
/// leaves them open. The number of slots has no say in it, so that the same file gives the
/// same search on every machine.
void choose_in_flight(experiment& e);

/// Returns whether the clock decides when the search makes way for the final stage.
[[nodiscard]] bool ends_by_clock(const experiment& e);

/// Says whether another run of the same file and seed gives the same result, on what it
/// depends, and what to write for it to be so; a sentence or two.
[[nodiscard]] std::string repeatability_text(const experiment& e);

/// The slots that one evaluation takes together.
[[nodiscard]] std::uint32_t slots_of_training(const experiment& e);

/// How many of them so many slots can do at once, at least one.
[[nodiscard]] std::size_t trainings_at_once(const experiment& e, std::size_t slots);

/// The epochs of a full evaluation.
[[nodiscard]] std::uint32_t full_epochs(const experiment& e);

/// Reads the file, its search space (or takes the built-in one that fits the data, if it
/// names none), and `overrides` ("evolution.population=48").
/// Relative paths, those of overrides too, are relative to the file's folder and become
/// absolute; those of a file that is none, "-" for standard input or a shell's <(...),
/// are relative to the current folder. Whatever is wrong is "file:line: ..." or "--set
/// key: ...", a key that nobody reads with the nearest known one. Does not read the data,
/// but for its shape where it names no search space. A file that `to_toml` wrote is such
/// a file too, with its search space in it.
[[nodiscard]] expected<experiment>
load_experiment(const std::filesystem::path& named,
                std::span<const std::string> overrides = {});

/// The name of an experiment whose file does not give it one: "churn" of "a/churn.toml"
/// or "a/churn.csv.gz", in Latin letters as far as it goes, with '-' for what a name may
/// not have.
[[nodiscard]] std::string experiment_name(const std::filesystem::path& file);

/// Leaves the seeds out of the search space that its limits forbid for such data, and says
/// so, a line each.
[[nodiscard]] std::vector<std::string> fit_seeds(experiment& e, const data_set* data);

/// Returns the problem that the networks of this experiment must fit; fails if its search
/// space wants images and the data holds none, or if no network of the space fits.
/// `data`: what `load_data(e.data, e.seed)` gave; nullptr for an experiment that does not
/// train.
[[nodiscard]] expected<problem> problem_of(const experiment& e, const data_set* data);

/// The resolved experiment, all defaults included, as one TOML document that needs no
/// other file but the data; what the first record holds.
[[nodiscard]] std::string to_toml(const experiment& e);

/// Reads what `to_toml` wrote.
[[nodiscard]] expected<experiment> parse_resolved(std::string_view text,
                                                  std::string_view origin);

/// Returns the rules by which the run's records are folded.
[[nodiscard]] run_rules rules_of(const experiment& e);

/// `[evolution]` of settings such as "strategy=regularised" and "mutation.again=0", the
/// rest being defaults, for that space and objective.
[[nodiscard]] expected<evolution_params>
parse_evolution(std::span<const std::string> settings, const search_space& space,
                const objective& goal = {}, std::vector<std::uint32_t> fidelities = {});

/// The words by which people change an experiment.
struct change_words {
  std::string option = "--change ";                ///< They write it before each change.
  std::string of_name = "a fork is named by --as"; ///< Why the name is no change.
};

/// Returns the experiment by which a fork of a run of `origin` searches: another name,
/// and with changes such as "evolution.population=48". The split of the data stays,
/// whatever the seed. Fails where a change is wrong, or of the data or the kind of
/// fitness; the rest is `check_fork`'s.
[[nodiscard]] expected<experiment> change_resolved(const experiment& origin,
                                                   const std::string& name,
                                                   std::span<const std::string> changes,
                                                   const change_words& words = {});

/// Hash of what decides the search: `to_toml` without name, slots, wall time, paths and
/// what carries what members of a team send each other, which like slots is a question of
/// where and changes no bit; and the data's content (`data_set::checksum`, of a table
/// `benchmark_table::checksum`; zero for a synthetic experiment).
[[nodiscard]] genome_hash search_hash(const experiment& e, genome_hash data_checksum);

} // namespace clade
