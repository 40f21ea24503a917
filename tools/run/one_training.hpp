#pragma once

#include "tools/run/new_run.hpp"

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace clade {

struct one_training_params {
  /// A run, or the file that `read` reads.
  std::string from;
  candidate_id id = 0; ///< The candidate of the run; 0: its best.
  /// For a genome from a file: the experiment by which it is trained. Else the run's own.
  std::filesystem::path experiment = {};
  /// Reads that genome, which is of this space and fits this problem.
  std::function<expected<genome>(const search_space&, const problem&)> read = {};
  std::uint32_t epochs = 0; ///< 0: those of a full training in the search.
  std::vector<std::string> overrides = {};
  std::filesystem::path runs = "runs";
};

/// A run that trains one network, from new weights, to its last epoch, and tests it. It
/// is a search of one candidate by the settings of the experiment that do not concern the
/// search.
[[nodiscard]] expected<new_run> make_one_training(const one_training_params& params);

} // namespace clade
