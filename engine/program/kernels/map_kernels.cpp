// Convolutions and linear maps.
#include "engine/program/kernels/kernel.hpp"
#include "engine/program/lower/windows.hpp"

#include <ATen/ATen.h>

#include <array>

namespace clade {
namespace {

/// Whether oneDNN, as of LibTorch 2.13, writes beyond its memory where it computes the
/// gradients of these weights on processors with AVX2 and without AVX-512: of one pixel and a
/// stride, from fewer channels than a vector has numbers, which come last.
bool writes_beyond(const convolution_window& w, const at::Tensor& x) {
  constexpr std::int64_t numbers_of_a_vector = 8;
  return w.kernel == 1 && w.stride > 1 && x.size(1) < numbers_of_a_vector && x.is_cpu()
         && x.suggest_memory_format() == at::MemoryFormat::ChannelsLast;
}

/// The pixels that a convolution of one pixel sees.
at::Tensor seen_pixels(const at::Tensor& x, std::int64_t stride) {
  return x.slice(2, std::nullopt, std::nullopt, stride)
      .slice(3, std::nullopt, std::nullopt, stride)
      .contiguous(at::MemoryFormat::ChannelsLast);
}

kernel make_convolution(const kernel_context& c) {
  return {[w = window_of(c.step), weight = c.tensor("weight"),
           bias = c.tensor("bias")](kernel::inputs in, bool) {
    constexpr std::int64_t none = 0, one = 1;
    if (writes_beyond(w, in[0]))
      return at::conv2d(seen_pixels(in[0], w.stride), weight, bias, {one, one},
                        {none, none}, {one, one}, w.groups);
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
