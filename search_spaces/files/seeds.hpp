#pragma once

#include "search_spaces/operators/search_space.hpp"
#include "search_spaces/operators/variation.hpp"

namespace clade {

/// Returns the genome of a seed: its layers in a chain. Settings and hyperparameters that
/// it does not name are drawn.
[[nodiscard]] genome genome_of(const seed_network& seed, const grammar& rules,
                               random_stream& random);

/// Says which seed does not fit the space's limits or the problem's shape, if any.
[[nodiscard]] expected<void> check_seeds(const search_space& space, const problem& p);

/// Takes the seeds out of the space that examples of this shape make too large for its
/// limits, and returns a sentence for each of them. Seeds that are no networks of the
/// space are left for `check_seeds` to refuse.
[[nodiscard]] std::vector<std::string> leave_out_misfits(search_space& space,
                                                         const problem& p);

} // namespace clade
