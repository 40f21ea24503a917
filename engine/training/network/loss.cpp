#include "engine/training/network/loss.hpp"

#include <ATen/ops/binary_cross_entropy_with_logits.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/mse_loss.h>

#include <cstdlib>
#include <optional>

namespace clade {

at::Tensor loss_of(loss_kind kind, const at::Tensor& predictions,
                   const at::Tensor& targets, const loss_options& options) {
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
  }
  std::abort();
}

} // namespace clade
