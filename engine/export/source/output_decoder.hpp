#pragma once

#include "engine/data/reading/preprocessing.hpp"
#include "engine/program/write/onnx_graph.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace clade {

/// Holds how each format writes what a network's outputs are and how predictions follow
/// from them. Clade makes its own predictions in predictions.cpp.
struct output_decoder {
  using texts_by_name = std::vector<std::pair<std::string, std::string>>;

  std::string_view outputs; ///< In words: "the logits".
  std::string_view result;  ///< In words: what `predict` of model.py returns for rows.
  /// The docstring of `predict`, and the expression that it returns of `outputs`.
  std::string_view docstring, returned;
  /// The constants of model.py that `returned` reads, as Python writes them.
  texts_by_name (*python_constants)(const preprocessing& how);
  /// An expression of TorchScript for the predictions of the tensor `last`.
  std::string (*torchscript)(const std::string& last, const preprocessing& how);
  /// Adds the nodes that make the graph's outputs of the value `last`, and declares them.
  void (*onnx)(onnx_graph& graph, const std::string& last, const preprocessing& how);
  /// The entries with which an ONNX model, or a safetensors file, tells of predictions.
  texts_by_name (*onnx_properties)(const preprocessing& how);
  texts_by_name (*safetensors_metadata)(const preprocessing& how);
};

[[nodiscard]] const output_decoder& decoder_of(const preprocessing& how);

} // namespace clade
