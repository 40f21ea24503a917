#pragma once

#include "genome/variation/mutation.hpp"
#include "search_spaces/operators/network.hpp"

namespace clade {

/// A random genome that decodes within the limits; an error if none of 1,000 did
/// ("a.toml: no valid network fits examples of shape [1, 8, 8]; the last of 1,000 random
/// ones: 31,000 parameters exceed limits.max_parameters = 20,000; ...").
[[nodiscard]] expected<offspring> sample(const search_space& space, const problem& p,
                                         random_stream& random);

/// Says what a run would stumble over: a space for images where the examples are none, or
/// limits that no network keeps. Call it once the data is known; the answer is always the
/// same for the same arguments.
[[nodiscard]] expected<void> check(const search_space& space, const problem& p);

/// Does the same as genome/mutation, but repeats it until the child decodes within the
/// limits; after 100 attempts the parent's hyperparameters alone are changed.
[[nodiscard]] offspring mutate(const search_space& space, const problem& p,
                               const genome& parent, const mutation_params& params,
                               random_stream& random);

/// Does the same as genome/crossover, but a child over the limits gives way to the fitter
/// parent.
[[nodiscard]] offspring cross(const search_space& space, const problem& p,
                              const genome& fitter, const genome& other,
                              random_stream& random);

} // namespace clade
