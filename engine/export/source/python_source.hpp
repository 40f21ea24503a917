#pragma once

#include "engine/export/model/model.hpp"

#include <string>

namespace clade {

/// model.py: the network as a class of plain PyTorch that a person can read and change,
/// its weights taken from model.safetensors beside it, with the preprocessing and a
/// function `predict`. It imports torch and the standard library alone.
[[nodiscard]] std::string python_source(const exported_model& m);

/// network.py: the class alone and its initial weights, taken from network.safetensors
/// beside it, for a program that trains or rates the network itself.
[[nodiscard]] std::string untrained_source(const exported_model& m);

/// A literal of Python, which is one of TorchScript too.
[[nodiscard]] std::string python_literal(std::string_view text);
[[nodiscard]] std::string python_literal(const std::vector<std::string>& texts);

} // namespace clade
