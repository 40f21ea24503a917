#pragma once

#include "tests/support/simulation.hpp"

namespace clade {

/// A world without search spaces: a genome is one number x below `size`, two genomes are
/// equal networks if their numbers are, and fitness falls with the distance from three
/// quarters of `size`. Every seventh number crashes. A number that is trained for some
/// epochs has a part of its fitness, more with each; how fast, differs. It has x
/// parameters.
struct toy_world {
  std::int64_t size = 10'000;
  bool all_fail = false;

  /// One whole number x, and no layers.
  [[nodiscard]] search_space space() const;
  [[nodiscard]] candidate breed(std::uint64_t seed, const breeding& order) const;
  [[nodiscard]] evaluation evaluate(const candidate& c) const;
};

[[nodiscard]] std::shared_ptr<const genome> toy_genome(std::int64_t x);
[[nodiscard]] std::int64_t toy_number(const genome& g);

/// A candidate of the toy world with that place and number, of the seven a generation
/// has.
[[nodiscard]] candidate a_candidate(candidate_id id, std::int64_t x = 0);

[[nodiscard]] evaluation a_success(candidate_id id, double accuracy);
[[nodiscard]] evaluation a_failure(candidate_id id, outcome o = outcome::crashed);
[[nodiscard]] individual an_individual(candidate_id id, double primary);
[[nodiscard]] individual a_failed_individual(candidate_id id);

/// 8 candidates in each of 6 generations; where a strategy has rungs, of 1, 3 and 9
/// epochs.
[[nodiscard]] run_rules toy_rules(const std::string& strategy, std::uint64_t seed = 1);

[[nodiscard]] simulation toy_simulation(const run_rules& rules,
                                        const toy_world& world = {});

} // namespace clade
