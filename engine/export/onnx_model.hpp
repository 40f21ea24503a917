#pragma once

#include "engine/export/model.hpp"
#include "genome/codec.hpp"

namespace clade {

/// The model in ONNX (opset 17, and 2 of ai.onnx.ml where there are categories), which
/// takes raw examples. Its inputs, N examples at a time:
///
///     input      float [N, channels, height, width] or [N, columns]; NaN is a blank
///
/// or, where the data has categories,
///
///     numbers    float [N, ...]: the other columns, in order
///     texts      string [N, ...]: the categories, in order; a text that the training
///     data
///                does not have has no 1 in any of its columns
///
/// Its outputs: `class` string [N] and `probabilities` float [N, classes], or `value`
/// double [N], in the target's own unit.
[[nodiscard]] bytes encode_onnx(const exported_model& m);

} // namespace clade
