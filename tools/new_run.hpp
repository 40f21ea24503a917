#pragma once

#include "engine/config/experiment.hpp"
#include "engine/evolution/run_state.hpp"
#include "engine/store/store.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace clade {

struct new_run_params {
  std::filesystem::path file; ///< The experiment.
  std::vector<std::string> overrides;
  std::filesystem::path runs = "runs";
};

/// A run that is recorded to have started, and nothing more.
struct new_run {
  clade::experiment experiment;
  clade::problem problem;
  std::filesystem::path folder;
  store file;
  run_state state;
};

/// An experiment that holds together with its data: what is checked before anything is
/// created.
struct checked_experiment {
  clade::experiment experiment;
  clade::problem problem;
  genome_hash data; ///< The data's checksum.
};

/// Checks the experiment, its data and its search space against each other.
[[nodiscard]] expected<checked_experiment> check_experiment(experiment e);

/// "runs/digits-20260101-120000", with "-2", "-3" where that is taken; mode 0700.
[[nodiscard]] expected<std::filesystem::path>
make_run_folder(const std::filesystem::path& runs, const std::string& name);

/// Makes the run's folder and store and its first record. Whatever the user got wrong is
/// found before anything is created.
[[nodiscard]] expected<new_run> make_run(const new_run_params& params);

/// The same for an experiment that is checked already.
[[nodiscard]] expected<new_run> make_run(checked_experiment checked,
                                         const std::filesystem::path& runs);

} // namespace clade
