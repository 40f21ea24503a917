#pragma once

#include "engine/training/asked/recipe.hpp"
#include "search_spaces/operators/network.hpp"

#include <cstdint>
#include <vector>

namespace clade {

/// How one network is trained, and the bytes that its slots together probably take
/// (`peak_bytes`).
struct fitted_training {
  clade::recipe recipe;
  distribution_params distribution; ///< Says how many devices, not "fit".
  std::uint64_t bytes = 0;
};

/// Does the same as `recipe_of`, for one network. If the params say "fit", it has the
/// fewest devices with which its bytes on each are at most
/// `distribution_params::fit_bytes`; where no number is enough, the one with which they
/// are fewest. That is a function of the experiment and the network alone, whatever slots
/// there are.
[[nodiscard]] expected<fitted_training>
fit_training(const training_params& params, const network& n,
             const std::vector<setting>& hyperparameters);

} // namespace clade
