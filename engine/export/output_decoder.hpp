#pragma once

#include "engine/export/onnx_graph.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace clade {

/// What a network's outputs are and what predictions are made of them, as each format
/// writes it. Clade's own predictions are made by predictions.cpp.
struct output_decoder {
  using texts_by_name = std::vector<std::pair<std::string, std::string>>;

  std::string_view outputs; ///< What a network gives, in words: "the logits".
  std::string_view result;  ///< What `predict` of model.py gives of rows, in words.
  /// The docstring of `predict`, and what it returns of the tensor `outputs`.
  std::string_view docstring, returned;
  /// The constants of model.py that `returned` reads, as Python writes them.
  texts_by_name (*python_constants)(const preprocessing& how);
  /// An expression of TorchScript for the predictions of the tensor `last`.
  std::string (*torchscript)(const std::string& last, const preprocessing& how);
  /// Adds the nodes that make the graph's outputs of the value `last`, and declares them.
  void (*onnx)(onnx_graph& graph, const std::string& last, const preprocessing& how);
  /// What an ONNX model, or a file of safetensors, tells of the predictions.
  texts_by_name (*onnx_properties)(const preprocessing& how);
  texts_by_name (*safetensors_metadata)(const preprocessing& how);
};

[[nodiscard]] const output_decoder& decoder_of(const learning_task& task);

} // namespace clade
