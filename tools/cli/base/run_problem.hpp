#pragma once

#include "engine/config/experiment/experiment.hpp"
#include "engine/data/reading/data_set.hpp"
#include "engine/store/run/store.hpp"

#include <filesystem>
#include <optional>

namespace clade {

/// The problem that the networks of a run are made for.
struct run_problem {
  clade::experiment experiment;
  clade::problem problem;
  std::optional<data_set> data; ///< The data of a run that trains.
};

/// Reads the experiment of the run in `file` and its data. `conflict`: the data files are
/// others than those that the run was started with; `not_found`: they are gone. May take
/// the time that reading the data takes.
[[nodiscard]] expected<run_problem> load_run_problem(const store& s,
                                                     const std::filesystem::path& file);

/// The hash of what decides the search, from the first record of the run in `file`.
[[nodiscard]] expected<genome_hash> find_search(const store& s,
                                                const std::filesystem::path& file);

} // namespace clade
