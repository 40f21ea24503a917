// Convolutions and linear maps.
#include "engine/program/kernels/kernel.hpp"
#include "engine/program/lower/windows.hpp"

#include <ATen/ATen.h>

#include <array>

namespace clade {
namespace {

kernel make_convolution(const kernel_context& c) {
  return {[w = window_of(c.step), weight = c.tensor("weight"),
           bias = c.tensor("bias")](kernel::inputs in, bool) {
    return at::conv2d(in[0], weight, bias, {w.stride, w.stride}, {w.padding, w.padding},
                      {w.dilation, w.dilation}, w.groups);
  }};
}

kernel make_linear(const kernel_context& c) {
  return {[weight = c.tensor("weight"), bias = c.tensor("bias")](
              kernel::inputs in, bool) { return at::linear(in[0], weight, bias); }};
}

constexpr std::array rows{
    kernel_row{"conv", make_convolution},
    kernel_row{"depthwise_conv", make_convolution},
    kernel_row{"dense", make_linear},
};

} // namespace

std::span<const kernel_row> map_kernels() {
  return rows;
}

} // namespace clade
