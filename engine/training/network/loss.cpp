#include "engine/training/network/loss.hpp"

#include <ATen/ops/binary_cross_entropy_with_logits.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/maximum.h>
#include <ATen/ops/mean.h>
#include <ATen/ops/mse_loss.h>
#include <ATen/ops/sum.h>

#include <cstdlib>
#include <optional>

namespace clade {

namespace {

/// The mean, or the sum, of what each example loses times its weight.
at::Tensor weighed_loss(loss_kind kind, const at::Tensor& predictions,
                        const at::Tensor& targets, const loss_options& options) {
  auto each = options;
  each.weights = at::Tensor();
  each.reduction = at::Reduction::None;
  auto lost = loss_of(kind, predictions, targets, each);
  const bool mean = options.reduction == at::Reduction::Mean;
  if (lost.dim() > 1)
    lost = mean ? lost.mean(1) : lost.sum(1);
  lost = lost * options.weights;
  if (!mean)
    return lost.sum();
  return options.class_weights.defined()
             ? lost.sum() / options.class_weights.index_select(0, targets).sum()
             : lost.mean();
}

} // namespace

at::Tensor loss_of(loss_kind kind, const at::Tensor& predictions,
                   const at::Tensor& targets, const loss_options& options) {
  if (options.weights.defined())
    return weighed_loss(kind, predictions, targets, options);
  switch (kind) {
  case loss_kind::cross_entropy: {
    const std::optional<at::Tensor> weights = options.class_weights.defined()
                                                  ? std::optional(options.class_weights)
                                                  : std::nullopt;
    return at::cross_entropy_loss(predictions, targets, weights, options.reduction,
                                  /*ignore_index=*/-100, options.label_smoothing);
  }
  case loss_kind::squared_error:
    return at::mse_loss(predictions, targets, options.reduction);
  case loss_kind::binary_cross_entropy: {
    const double smoothing = options.label_smoothing;
    return at::binary_cross_entropy_with_logits(
        predictions, smoothing > 0 ? targets * (1 - smoothing) + smoothing / 2 : targets,
        {}, {}, options.reduction);
  }
  case loss_kind::pinball: {
    const auto above = targets - predictions;
    const auto lost =
        at::maximum(options.quantiles * above, (options.quantiles - 1) * above);
    return options.reduction == at::Reduction::Mean  ? lost.mean()
           : options.reduction == at::Reduction::Sum ? lost.sum()
                                                     : lost;
  }
  }
  std::abort();
}

} // namespace clade
