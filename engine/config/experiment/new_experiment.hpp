#pragma once

#include "engine/data/profile/data_profile.hpp"
#include "engine/run/steps/time_plan.hpp"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace clade {

/// The size of a search on data of that many rows: more epochs for fewer rows, so that a
/// training makes about 2,000 to 20,000 steps of 32 examples.
[[nodiscard]] search_size search_size_for(const data_profile& data);

/// The built-in search space for such data, and in a few words what is in it.
struct suggested_space {
  std::string_view name;
  std::string_view content;
};

[[nodiscard]] suggested_space space_for(const data_profile& data);

/// The choices, beyond the data, of an experiment that is to be written.
struct new_experiment_params {
  std::string name;
  std::uint64_t seed = 1;
  search_size size;
  /// Candidates that are open at once in a strategy without generations; 0: not said.
  std::uint64_t in_flight = 0;
  /// The time of the whole run; 0: not limited.
  std::chrono::seconds wall_time{0};
  std::chrono::seconds evaluation_time{600}; ///< The time of one training of the search.
  std::string slots = "auto";
  /// The folder in which the experiment's file is to lie: paths are relative to it where
  /// the data lies in it or beside it.
  std::filesystem::path folder;
};

/// Returns a complete experiment file, with comments, for data of this profile. Every
/// choice that the profile made is written out, so that a person can change it.
[[nodiscard]] std::string new_experiment(const data_profile& data,
                                         const new_experiment_params& params);

} // namespace clade
