#pragma once

#include "engine/data/columns/learning_task.hpp"

#include <ATen/core/Reduction.h>
#include <ATen/core/Tensor.h>

namespace clade {

struct loss_options {
  /// Whether the examples' losses are averaged or summed up.
  at::Reduction::Reduction reduction = at::Reduction::Mean;
  /// float32 [classes]: what errors weigh; undefined where all weigh 1.
  at::Tensor class_weights{};
  /// float32 [examples]: how much each counts; undefined where all count the same. A mean
  /// counts each once below the line.
  at::Tensor weights{};
  /// float32 [outputs]: the quantile that each output is; of the pinball loss alone.
  at::Tensor quantiles{};
  double label_smoothing = 0;
};

/// The loss of predictions, [examples, outputs], of targets as `device_data` has them.
/// Losses of numbers have neither weights nor smoothing, those of labels no weights. The
/// mean is one over several targets, too. A kind is a branch here, and one without LibTorch
/// in metrics.cpp.
[[nodiscard]] at::Tensor loss_of(loss_kind kind, const at::Tensor& predictions,
                                 const at::Tensor& targets,
                                 const loss_options& options = {});

} // namespace clade
