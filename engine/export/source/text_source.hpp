#pragma once

#include "engine/data/reading/preprocessing.hpp"

#include <string>

namespace clade {

/// Whether a column is one of texts, which only Python encodes: ONNX and TorchScript take
/// its inputs as they are encoded.
[[nodiscard]] bool has_text_columns(const preprocessing& how);

/// Whether one of them has scores, which the exported Python needs the module `array` for.
[[nodiscard]] bool has_text_scores(const preprocessing& how);

/// Attributes of the class `Rows` of the exported Python: the terms of each column of texts
/// and their weights ("values3" and "weights3", of the fourth column), and what its scores
/// are made of. Each line is as at the left edge.
[[nodiscard]] std::string text_constants(const preprocessing& how);

/// Methods of that class: `text(self, text, places, weights)` returns the inputs of a text's
/// terms, as `term_weigher` has them, and `scores(self, text, places, weights, coefficients,
/// intercepts)` its scores.
[[nodiscard]] std::string text_methods();

} // namespace clade
