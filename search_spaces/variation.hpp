#pragma once

#include "genome/mutation.hpp"
#include "search_spaces/network.hpp"

namespace clade {

/// A random genome that decodes within the limits; an error if none of 1,000 did ("no
/// valid network fits ...: the last one had 31,000,000 parameters; raise
/// limits.max_parameters").
[[nodiscard]] expected<offspring> sample(const search_space& space, const problem& p,
                                         random_stream& random);

/// As genome/mutation, but repeated until the child decodes within the limits; after 100
/// attempts the parent's hyperparameters alone are changed.
[[nodiscard]] offspring mutate(const search_space& space, const problem& p,
                               const genome& parent, const mutation_params& params,
                               random_stream& random);

/// As genome/crossover; a child over the limits gives way to the fitter parent.
[[nodiscard]] offspring cross(const search_space& space, const problem& p,
                              const genome& fitter, const genome& other,
                              random_stream& random);

} // namespace clade
