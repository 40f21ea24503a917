#include "engine/export/torch/untrained.hpp"

#include "engine/export/source/onnx_model.hpp"
#include "engine/export/source/python_source.hpp"
#include "engine/export/source/safetensors.hpp"
#include "engine/training/weights/initial_weights.hpp"
#include "genome/genes/hash.hpp"

namespace clade {

namespace {

/// Returns the preprocessing that leaves raw inputs as they are.
preprocessing no_preprocessing(const problem& p) {
  preprocessing how{.task = p.outputs == 1 ? regression : classification,
                    .shape = p.input,
                    .layout = array_layout::channels_first,
                    .sizes = p.input.layout() == layout::image ? p.input : tensor_shape{},
                    .width = static_cast<std::size_t>(p.input.elements()),
                    .columns = {},
                    .target_column = {},
                    .target = {},
                    .blanks = {},
                    .mean = {},
                    .deviation = {},
                    .classes = {},
                    .checksum = {}};
  if (p.outputs > 1)
    for (std::int64_t i = 0; i < p.outputs; ++i)
      how.classes.push_back(std::to_string(i));
  return how;
}

} // namespace

expected<exported_model> untrained_model(const untrained_network& n) {
  const auto weights = initial_weights(n.layers, [&](std::string_view layer) {
    return derive(n.seed, purpose::training, 0, hash64(layer));
  });
  return export_network(n.layers, weights).map([&](exported_model&& m) {
    m.how = no_preprocessing(n.problem);
    return std::move(m);
  });
}

expected<std::vector<named_file>> write_untrained(network_format format,
                                                  const untrained_network& n) {
  return untrained_model(n).map([&](const exported_model& m) {
    std::vector<named_file> files;
    switch (format) {
    case network_format::python:
      files.push_back({"network.py", untrained_source(m)});
      files.push_back({"network.safetensors", encode_safetensors(m)});
      break;
    case network_format::onnx:
      files.push_back({"network.onnx", encode_onnx(m)});
      break;
    }
    return files;
  });
}

} // namespace clade
