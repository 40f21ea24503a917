#pragma once

#include "engine/training/weights/weights.hpp"

#include <ATen/core/Tensor.h>

namespace clade {

/// The values of a float32 tensor of any device.
[[nodiscard]] weight_tensor to_host(std::string name, const at::Tensor& t);

/// Writes them back; shapes must be equal.
void copy_to(const at::Tensor& t, const weight_tensor& values);

[[nodiscard]] bool same_shape(const at::Tensor& t, const weight_tensor& values);

} // namespace clade
