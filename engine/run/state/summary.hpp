#pragma once

#include "engine/search/core/candidate.hpp"
#include "engine/search/core/pareto.hpp"

#include <cstdint>
#include <vector>

namespace clade {

/// A generation in numbers, for people: values of the objective's metric over its
/// candidates that succeeded, 0 where none did.
struct generation_summary {
  std::uint64_t generation = 0;
  candidate_id best = 0; ///< 0: none succeeded.
  double best_fitness = 0, median_fitness = 0, lower_quartile = 0, upper_quartile = 0;
  std::size_t succeeded = 0, failed = 0;
  front_size front; ///< For several objectives: of all generations so far.
};

/// Returns a quantile of sorted numbers, at least one, interpolating between neighbours.
[[nodiscard]] double quantile(const std::vector<double>& sorted, double share);

[[nodiscard]] generation_summary summarise(std::uint64_t generation,
                                           std::vector<individual> evaluated,
                                           const objective& goal);

/// Takes the generation that is closed out of those that were evaluated since the last
/// was, of which there may be more: where a strategy hears results in the order asked
/// (`by_id`), it is those with the smallest ids, else those that came first.
[[nodiscard]] std::vector<individual> take_generation(std::vector<individual>& evaluated,
                                                      std::size_t population, bool by_id);

} // namespace clade
