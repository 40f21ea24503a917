#pragma once

#include "engine/training/network/optimiser.hpp"
#include "engine/training/network/weight_average.hpp"
#include "engine/training/parallel/common/ordered_sum.hpp"

#include <optional>
#include <span>
#include <vector>

namespace clade {

/// The part of a network that one holder has.
struct holder_layout {
  std::vector<std::size_t> parameters; ///< Their numbers in the network, rising.
  bool statistics = false;             ///< It has those of normalisations too.
};

/// Gives each of several servers whole tensors, the largest first, each to the one that
/// has the least so far; the first server has the statistics. With `copies`, each has all.
[[nodiscard]] std::vector<holder_layout>
deal_parameters(std::span<const at::Tensor> all, std::size_t holders, bool copies);

/// A part of a network's parameters, or all of them, with what the optimiser keeps for
/// them and their moving average: a server's shard, or a peer's copy. Its state lies on
/// the processor as one row of values: parameters, statistics, the optimiser's moments,
/// and the average of parameters and statistics where there is one.
class parameter_holder {
public:
  /// Begins as `whole` is, tensors in the order of the state, of which `parameters` are
  /// first, after so many steps. A gradient is clipped by whoever gives it.
  parameter_holder(const recipe& r, std::span<const at::Tensor> whole,
                   std::size_t parameters, std::size_t statistics, std::uint64_t steps);

  /// Parameters and statistics, a row that shares storage.
  [[nodiscard]] const at::Tensor& values() const { return values_; }

  /// A step down a row of gradients, which stand where `values` has parameters. If
  /// `takes_statistics`, the row's become the holder's. The row is used up.
  void step(const at::Tensor& row, double learning_rate, bool takes_statistics);

  [[nodiscard]] at::Tensor state() const;

private:
  std::size_t parameters_;
  at::Tensor values_;
  tensor_list tensors_; ///< Views of it.
  std::optional<optimiser> optimiser_;
  std::optional<weight_average> average_;
  std::uint64_t steps_;
};

/// Adds up the rows of shares, in the order that a ring of all shares has (ordered_sum.hpp)
/// for the elements of the whole network, of which the holder has some. `rows`: of each
/// share; undefined where it is left out. `offsets`: where in the network each parameter
/// begins, and at the end the size of all. The statistics of `sum` are those of the first
/// row.
void add_up_shares(std::span<const at::Tensor> rows, const holder_layout& layout,
                   std::span<const std::int64_t> offsets, const at::Tensor& sum);

/// Elements of a parameter that lie in one chunk of a row of all parameters.
struct held_part {
  std::size_t parameter = 0;
  std::int64_t begin = 0, size = 0; ///< In the holder's row.
  std::size_t chunk = 0;
};

/// All of a holder, in the order of its row, where the row of the whole network is cut into
/// as many chunks as there are shares. `offsets` as of `add_up_shares`.
[[nodiscard]] std::vector<held_part> parts_of(const holder_layout& layout,
                                              std::span<const std::int64_t> offsets,
                                              std::size_t shares);

/// The norm of each of these parts of a holder's row of gradients, float32.
[[nodiscard]] at::Tensor norms_of_parts(const at::Tensor& row,
                                        std::span<const held_part> parts);

} // namespace clade
