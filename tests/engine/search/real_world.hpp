#pragma once

#include "tests/support/simulation.hpp"

#include <functional>

namespace clade {

/// A space of hyperparameters alone.
[[nodiscard]] std::shared_ptr<const search_space>
space_of(std::vector<parameter> hyperparameters);

/// So many unordered choices "c0", "c1", .. of the whole numbers below `options`.
[[nodiscard]] std::shared_ptr<const search_space> space_of_choices(std::size_t count,
                                                                   std::int64_t options);

/// A run in which genomes are bred as in a real one, and `fitness` is their accuracy; not
/// a number: it fails.
[[nodiscard]] simulation
real_simulation(const evolution_params& evolution, std::uint64_t seed,
                std::shared_ptr<const search_space> space,
                const std::function<double(const genome&)>& fitness);

[[nodiscard]] double number(const genome& g, std::string_view hyperparameter);

/// The best fitness until each evaluation; it must have run that long.
[[nodiscard]] std::vector<double> best_curve(const simulated& run);

/// Returns all candidates that were trained.
[[nodiscard]] std::vector<candidate> trained(const simulated& run);

} // namespace clade
