#pragma once

#include <ATen/core/Tensor.h>

#include <span>
#include <vector>

namespace clade {

/// Values of one replica: tensors that lie one behind the other, in their order.
using tensor_list = std::vector<at::Tensor>;

/// Adds up what replicas have, element by element, in a part of the elements; so many
/// threads, each with its own part, do it all. The first `receivers` replicas get the sum.
///
/// The result depends on the number of replicas alone: all elements, tensor behind tensor,
/// are cut into as many chunks as there are replicas, and chunk c is added up beginning
/// with replica c, then c + 1, and so on, around. A ring that scatters its sums (Patarasuk
/// and Yuan, "Bandwidth Optimal All-reduce Algorithms for Clusters of Workstations", 2009)
/// adds in that order, so that it gives the same bits.
///
/// All replicas' tensors have the same shapes, are dense, lie in memory alike, and are of
/// the same type, float32 or float64, on the processor.
void add_up_part(std::span<const tensor_list> replicas, std::size_t receivers,
                 std::size_t part);

/// Whether such tensors of two replicas lie in memory alike.
[[nodiscard]] bool lie_alike(const at::Tensor& a, const at::Tensor& b);

} // namespace clade
