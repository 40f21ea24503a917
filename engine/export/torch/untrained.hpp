#pragma once

#include "engine/evaluation/program_host.hpp"
#include "engine/export/model/model.hpp"

namespace clade {

/// A network before its training as an exported model: raw inputs are what the network
/// takes, and of several outputs each is a class, "0", "1", ...
[[nodiscard]] expected<exported_model> untrained_model(const untrained_network& n);

/// The `network_writer` of this folder. In Python: network.py and, beside it,
/// network.safetensors. In ONNX: network.onnx. Each by its name stands for the same
/// weights.
[[nodiscard]] expected<std::vector<named_file>>
write_untrained(network_format format, const untrained_network& n);

} // namespace clade
