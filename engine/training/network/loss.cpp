#include "engine/training/network/loss.hpp"

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
  }
  std::abort();
}

} // namespace clade
