#pragma once

#include "engine/search/core/candidate.hpp"
#include "genome/base/random.hpp"

#include <cstddef>
#include <vector>

namespace clade {

/// Best first.
void sort_by_fitness(std::vector<individual>& population);

/// The same without the failed, which are of use only where all failed.
void sort_by_use(std::vector<individual>& population);

/// The fitness that is worth keeping weights for, where those of the best `kept` are
/// kept: ties with the worst of them included. `best`: of those so far, best first.
[[nodiscard]] double weights_threshold(const std::vector<individual>& best,
                                       std::size_t kept);

/// The fittest of `size` drawn with replacement: an index into a population sorted by
/// fitness.
[[nodiscard]] std::size_t tournament(std::size_t population, std::size_t size,
                                     random_stream& random);

/// One of the best `share`, by an even chance: an index into a population sorted by
/// fitness.
[[nodiscard]] std::size_t truncation(std::size_t population, double share,
                                     random_stream& random);

} // namespace clade
