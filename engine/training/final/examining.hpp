#pragma once

#include "engine/training/final/training_context.hpp"

namespace clade {

/// Builds the network of a genome and loads its trained weights. After `load` of the
/// context; LibTorch's exceptions pass through.
[[nodiscard]] expected<std::unique_ptr<network_module>>
load_candidate(const training_context& context, const genome& g, const bytes& weights);

// The following measure on the test part, once a search has ended. They load the data where
// they are not loaded, and turn LibTorch's exceptions into errors of kind io.

/// Measures the candidate of job `j` by its `weights`; where there are none, it is trained
/// again first.
[[nodiscard]] expected<examination> examine_candidate(training_context& context,
                                                      const job& j, const bytes& weights);

/// Fits the linear model and measures it.
[[nodiscard]] expected<examination> examine_linear_model(training_context& context,
                                                         const budget& b);

} // namespace clade
