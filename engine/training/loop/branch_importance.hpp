#pragma once

#include "engine/search/core/candidate.hpp"
#include "engine/training/network/device_data.hpp"
#include "search_spaces/operators/network.hpp"

#include <vector>

namespace clade {

class network_module;

/// With so many examples importances are measured: the first of the validation part, or all.
inline constexpr std::int64_t branch_examples = 256;

/// Returns how important the branches of a trained network are (layer::chosen_by), sorted by
/// gene and parameter: by how much the loss of an example would change, to first order, if
/// the branch gave nothing,
///
///   mean over examples of  |sum over elements of  a dL/da|
///
/// with what the branch gives, a (Molchanov, Tyree, Karras, Aila and Kautz, "Pruning
/// Convolutional Neural Networks for Resource Efficient Inference", ICLR 2017). If one
/// parameter chooses several branches, as of repeated cells, they go together. An importance
/// that is no finite number is left out. Computes `batch_size` examples at a time, in
/// evaluation's mode, in which it leaves the network. Branches within a body (over_time) are
/// not measured. LibTorch's exceptions pass through.
[[nodiscard]] std::vector<branch_importance> branch_importances(network_module& module,
                                                                const network& n,
                                                                const device_data& data,
                                                                std::int64_t batch_size);

} // namespace clade
