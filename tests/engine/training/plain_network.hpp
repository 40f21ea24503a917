#pragma once

#include "engine/training/weights/weights.hpp"
#include "search_spaces/operators/network.hpp"

#include <vector>

namespace clade::test {

/// Returns the outputs that the network computes of one example in evaluation, slowly and
/// without LibTorch, by the table in search_spaces/operators/operators.hpp. It knows most
/// operators; another fails the test.
[[nodiscard]] std::vector<double> compute(const network& n,
                                          const std::vector<weight_tensor>& weights,
                                          const std::vector<double>& example);

/// Every tensor of its modules, with values drawn at random; variances are positive.
[[nodiscard]] std::vector<weight_tensor> random_weights(const network& n,
                                                        std::uint64_t seed);

} // namespace clade::test
