#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <vector>

namespace clade {

/// A map has so many cells along each side of an image.
constexpr std::int64_t occlusion_cells = 7;

/// Images [n, channels, height, width] to probabilities [n, classes].
using image_model = std::function<at::Tensor(const at::Tensor&)>;

/// Returns by cell, row after row, by how much the probability of class `label` falls if
/// that part of `image` [channels, height, width] has the mean colour of all of it (Zeiler
/// and Fergus, "Visualizing and understanding convolutional networks", ECCV 2014). Below 0:
/// it rises.
[[nodiscard]] std::vector<double>
occlusion_map(const image_model& says, const at::Tensor& image, std::int64_t label);

} // namespace clade
