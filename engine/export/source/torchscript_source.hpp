#pragma once

#include "engine/export/model/model.hpp"

#include <string>

namespace clade {

/// The methods of a TorchScript module that predicts from raw examples:
///
///     forward(rows)     where all columns are numbers: float [N, width], NaN for blanks,
///                       or images in the sizes that their file has
///     forward(texts)    of other tables: List[List[str]], for each row the texts of all
///                       columns as a CSV has them, without the target
///     forward(rows)     of tables with columns of sentences: float [N, inputs], as the
///                       exported Python's `encode` gives them
///
/// It gives probabilities [N, classes], or values [N] in the target's own unit, in
/// double. The module's attributes: `classes` (texts), `columns` (names, where the data
/// has them); its parameters and buffers: those of `attribute_name` (writer.hpp), and
/// input_mean, input_deviation, input_blank, input_largest where the preprocessing has
/// them.
[[nodiscard]] std::string torchscript_source(const exported_model& m);

} // namespace clade
