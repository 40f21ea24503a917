#include "engine/training/network/orthogonal_steps.hpp"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

namespace clade {
namespace {

constexpr int iterations = 5;
// The iteration x -> a x + b x x' x + c x x' x x' x, whose slope at 0 is steep.
constexpr double a = 3.4445, b = -4.7750, c = 2.0315;
constexpr double no_division_by_zero = 1e-7;

constexpr double length_of_adam = 0.2;

bool has_channels_last(const at::Tensor& weight) {
  return weight.dim() == 4 && weight.is_contiguous(at::MemoryFormat::ChannelsLast);
}

// The columns are in the order in which the weight lies in memory, which saves a copy.
at::Tensor as_matrix(const at::Tensor& t, const at::Tensor& weight) {
  const auto ordered = has_channels_last(weight) ? t.permute({0, 2, 3, 1}) : t;
  return ordered.reshape({t.size(0), -1});
}

at::Tensor as_weight(const at::Tensor& matrix, const at::Tensor& weight) {
  if (!has_channels_last(weight))
    return matrix.reshape(weight.sizes());
  const auto s = weight.sizes();
  return matrix.reshape({s[0], s[2], s[3], s[1]}).permute({0, 3, 1, 2});
}

} // namespace

// The iterations are made on the small square x x' and on the product of their factors,
// which is put before x once: x -> p x makes p square p of the square, and all commute.
at::Tensor nearest_orthogonal(const at::Tensor& matrix) {
  const bool tall = matrix.size(0) > matrix.size(1);
  auto x = tall ? matrix.t() : matrix;
  x = x / (x.norm() + no_division_by_zero);
  auto square = x.mm(x.t());
  const auto one = at::eye(square.size(0), square.options());
  at::Tensor product;
  for (int i = 0; i < iterations; ++i) {
    const auto factor = at::addmm(square, square, square, b, c).add_(one, a);
    product = i == 0 ? factor : factor.mm(product);
    if (i + 1 < iterations)
      square = factor.mm(square).mm(factor);
  }
  x = product.mm(x);
  return tall ? x.t() : x;
}

void orthogonal_step(at::Tensor& weight, const at::Tensor& gradient, at::Tensor& momentum,
                     const orthogonal_step_params& params) {
  const auto moved = momentum * params.momentum + gradient;
  const auto ahead = gradient + moved * params.momentum;
  const auto direction = as_weight(nearest_orthogonal(as_matrix(ahead, weight)), weight);
  const auto columns = weight.numel() / weight.size(0);
  const double length =
      length_of_adam
      * std::sqrt(static_cast<double>(std::max<std::int64_t>(weight.size(0), columns)));
  const auto next = (weight * (1 - params.learning_rate * params.weight_decay))
                        .sub_(direction, params.learning_rate * length);
  if (!params.overflowed) {
    momentum.copy_(moved);
    weight.copy_(next);
    return;
  }
  const auto stays = params.overflowed->gt(0);
  momentum.copy_(at::where(stays, momentum, moved));
  weight.copy_(at::where(stays, weight, next));
}

} // namespace clade
