#pragma once

#include "engine/data/reading/preprocessing.hpp"
#include "engine/program/write/onnx_graph.hpp"

#include <set>
#include <string>
#include <vector>

namespace clade {

/// An input of an ONNX model, for its metadata.
struct onnx_input {
  std::string name;
  std::string kind;      ///< "numbers", or the column's: "number", "category", ...
  std::size_t place = 0; ///< The place of the column among those of the file.
};

/// Declares what the model takes, and adds what prepares it for the network; the value
/// `examples` is that.
///   * Numbers alone: "input", [N, columns], doubles; of an image floats, in the sizes
///     that its file has; NaN is a blank.
///   * A table with other columns: an input [N] for each column that is used, with the
///     column's name (or "column3"). A number is a double, NaN where blank; a category and
///     yes or no are texts as the file has them; a date is a double, the days since
///     1970-01-01, NaN where blank; a column of texts is [N, inputs], the weights that
///     `encode_text` gives its terms.
/// `taken` are the words before the first point in the names of the graph's other values;
/// an input that would begin so has a "_" before its name. This function's own values
/// begin with "input".
[[nodiscard]] std::vector<onnx_input> add_inputs(onnx_graph& graph,
                                                 const preprocessing& how,
                                                 const std::set<std::string>& taken);

} // namespace clade
