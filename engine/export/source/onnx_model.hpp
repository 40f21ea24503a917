#pragma once

#include "engine/export/model/model.hpp"
#include "genome/codec/codec.hpp"

namespace clade {

/// The model in ONNX (opset 17 and, for tables with texts, 2 of ai.onnx.ml), which takes
/// N raw examples at a time. `add_inputs` (onnx_inputs.hpp) says what its inputs are. Its
/// outputs are
///
///     class           string [N]            of a classification
///     probabilities   float [N, classes]
///
///     value           double [N]            of a regression, in the target's own unit
[[nodiscard]] bytes encode_onnx(const exported_model& m);

} // namespace clade
