#pragma once

#include "engine/data/data_set.hpp"
#include "engine/evolution/strategy.hpp"
#include "engine/fitness/synthetic.hpp"
#include "engine/training/training_params.hpp"
#include "search_spaces/search_space.hpp"

#include <chrono>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace clade {

/// `[limits]`
struct limits_params {
  std::chrono::milliseconds evaluation_time{std::chrono::minutes(10)};
  std::uint64_t evaluation_memory = 0; ///< Bytes; 0: what the machine has.
  std::chrono::milliseconds wall_time{0}; ///< 0: unlimited.
};

/// `[slots]`
struct slots_params {
  std::string local = "auto"; ///< "auto", "cpu:N", or a list as text: "cuda:0,cuda:1".
};

enum class fitness_kind : std::uint8_t { training, synthetic };

/// One experiment file, resolved.
struct experiment {
  std::string name;
  std::uint64_t seed = 1;
  fitness_kind fitness = fitness_kind::training;
  data_params data;
  search_space space;
  clade::objective objective;
  evolution_params evolution;
  training_params training;
  synthetic_params synthetic;
  limits_params limits;
  slots_params slots;
};

/// Reads the file, its search space, and `overrides` ("evolution.population=48"), relative
/// paths being relative to the file. Whatever is wrong is "file:line: ..." with the nearest
/// known key. Does not read the data.
[[nodiscard]] expected<experiment> load_experiment(const std::filesystem::path& file,
                                                   std::span<const std::string> overrides = {});

/// The resolved experiment as one TOML document that needs no other file but the data; what the
/// first record holds.
[[nodiscard]] std::string to_toml(const experiment& e);

/// Reads what `to_toml` wrote.
[[nodiscard]] expected<experiment> parse_resolved(std::string_view text,
                                                  std::string_view origin);

/// Hash of what decides the search: `to_toml` without slots, wall time and paths.
[[nodiscard]] genome_hash search_hash(const experiment& e);

/// The known name nearest to `name` by edit distance, or "" if none is near.
[[nodiscard]] std::string nearest(std::string_view name, std::span<const std::string> known);

} // namespace clade
