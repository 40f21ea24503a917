#pragma once

#include "engine/store/run/store.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace clade {

/// The contribution of a search space's seeds to a run. A candidate with the network of a
/// seed that it descends from is that seed, trained on.
struct seed_story {
  struct best {
    candidate_id id = 0;
    double fitness = 0;
    std::string seed{}; ///< The seed that it is; empty: none.
  };

  std::uint64_t seeds = 0;        ///< How many candidates were seeds.
  std::uint64_t descendants = 0;  ///< How many others descend from one.
  std::uint64_t candidates = 0;   ///< How many there were in all.
  std::optional<best> best_seed;  ///< None: none of them succeeded.
  std::optional<best> best_other; ///< The best of those that descend from no seed.
  candidate_id champion = 0;      ///< Or the best so far; 0: nobody succeeded.
  bool is_final = false;          ///< `champion` is the champion of a finished run.
  std::string champion_is;        ///< The seed that the champion is; empty: none.
  std::vector<std::string> champion_from; ///< The seeds that it is or descends from.
};

/// None where the run had no seeds. Passes once over the candidates by their ids.
[[nodiscard]] expected<std::optional<seed_story>> tell_seeds(const store& s);

/// "The search began with 3 seeds, ...": three sentences; `metric` is the objective's.
[[nodiscard]] std::string seed_words(const seed_story& told, const std::string& metric);

} // namespace clade
