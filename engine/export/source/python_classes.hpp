#pragma once

#include "engine/export/model/model.hpp"

#include <span>
#include <string>

namespace clade {

/// The modules that PyTorch does not have, as Python source: those that the steps need.
[[nodiscard]] std::string python_classes(std::span<const export_step> steps);

/// `load`, which makes a network with the weights of its file: `trained` to predict, else
/// to be trained.
[[nodiscard]] std::string python_loading(bool trained);

} // namespace clade
