#pragma once

#include "engine/config/experiment/experiment.hpp"
#include "engine/data/profile/infer_columns.hpp"
#include "engine/run/state/run_state.hpp"
#include "engine/store/run/store.hpp"

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

namespace clade {

struct new_run_params {
  std::filesystem::path file; ///< The experiment.
  std::vector<std::string> overrides;
  std::filesystem::path runs = "runs";
  /// The run ends with a final model within this time, an ensemble unless [final] names
  /// another. It takes the place of `limits.wall_time`. 0: as the file says.
  std::chrono::milliseconds budget{0};
  /// Earlier runs whose best genomes are among the first candidates.
  std::vector<std::string> start_from{};
};

/// A run that is recorded to have started, and nothing more.
struct new_run {
  clade::experiment experiment;
  clade::problem problem;
  std::vector<std::string> data_lines; ///< The lines that `checked_experiment` has.
  std::filesystem::path folder;
  store file;
  run_state state;
  std::string note = {}; ///< `checked_experiment::note`
  /// The points that came from earlier runs, a line for each of these (start_from.hpp).
  std::vector<std::string> started_from{};
};

/// An experiment that holds together with its data: what is checked before anything is
/// created.
struct checked_experiment {
  clade::experiment experiment{};
  clade::problem problem{};
  genome_hash data{};               ///< The data's checksum.
  std::uint64_t examples = 0;       ///< The number of examples in the data.
  std::uint64_t train_examples = 0; ///< The number of those in the training part.
  /// The content of the data and the part that is taken of it, for people, a line each.
  std::vector<std::string> data_lines{};
  /// A note that a person should know before it runs; empty: nothing.
  std::string note = {};
};

/// Fills in what an experiment that somebody wrote does not say of its data
/// (infer_columns.hpp), before it is checked and stored. A stored one says all.
[[nodiscard]] expected<inferred_data> resolve_data(experiment& e);

/// Checks the experiment, its data and its search space against each other.
[[nodiscard]] expected<checked_experiment> check_experiment(experiment e);

/// The same of one that somebody wrote: its data is resolved first, and told in
/// `data_lines`.
[[nodiscard]] expected<checked_experiment> check_fresh(experiment e);

/// "runs/digits-20260101-120000", with "-2", "-3" where that is taken; mode 0700.
[[nodiscard]] expected<std::filesystem::path>
make_run_folder(const std::filesystem::path& runs, const std::string& name);

/// Makes the run's folder and store and its first record. Whatever the user got wrong is
/// found before anything is created.
[[nodiscard]] expected<new_run> make_run(const new_run_params& params);

/// The same for an experiment that is checked already. `given` are records behind the
/// first.
[[nodiscard]] expected<new_run> make_run(checked_experiment checked,
                                         const std::filesystem::path& runs,
                                         std::vector<record> given = {});

} // namespace clade
