// Computations on sequences [N, steps, features]. LibTorch wants the features behind the
// batch: what it gives is transposed back as a view, so that the values stay in its own
// order, and the next computation's transpose finds them as it wants them.
#include "engine/program/kernels/kernel.hpp"
#include "engine/program/lower/windows.hpp"

#include <ATen/ATen.h>

#include <array>
#include <limits>

namespace clade {
namespace {

using inputs = kernel::inputs;

kernel make_conv1d(const kernel_context& c) {
  return {[w = window_of(c.step), weight = c.tensor("weight"),
           bias = c.tensor("bias")](inputs in, bool) {
    auto x = in[0].transpose(1, 2);
    if (w.before)
      x = at::constant_pad_nd(x, {w.padding, 0});
    return at::conv1d(x, weight, bias, {w.stride}, {w.before ? 0 : w.padding},
                      {w.dilation}, w.groups)
        .transpose(1, 2);
  }};
}

// The maximum of the shifted sequences [N, features, steps].
at::Tensor slice_maximum(const at::Tensor& x, const step_window& w, std::int64_t places) {
  at::Tensor most;
  for (std::int64_t i = 0; i < w.kernel; ++i) {
    const auto shifted = x.slice(2, i, i + (places - 1) * w.stride + 1, w.stride);
    most = most.defined() ? at::maximum(most, shifted) : shifted;
  }
  return most;
}

kernel make_max_pool1d(const kernel_context& c) {
  return {[w = steps_of(c.step), places = c.step.out.sizes[0]](inputs in, bool) {
    auto x = in[0].transpose(1, 2);
    // LibTorch adds up the gradients of windows that overlap in no fixed order on a GPU.
    const bool slices = x.is_cuda() && w.stride < w.kernel;
    if (slices || (!w.odd() && w.before + w.after > 0))
      x = at::constant_pad_nd(x, {w.before, w.after},
                              -std::numeric_limits<float>::infinity());
    if (slices)
      return slice_maximum(x, w, places).transpose(1, 2);
    return at::max_pool2d(x.unsqueeze(2), {1, w.kernel}, {1, w.stride},
                          {0, w.odd() ? w.before : 0})
        .squeeze(2)
        .transpose(1, 2);
  }};
}

kernel make_avg_pool1d(const kernel_context& c) {
  return {[w = steps_of(c.step)](inputs in, bool) {
    return at::avg_pool1d(in[0].transpose(1, 2), {w.kernel}, {w.stride}, {w.before},
                          /*ceil_mode=*/false, /*count_include_pad=*/false)
        .transpose(1, 2);
  }};
}

// A product over the steps of each feature. The matrix is no part of the weights.
kernel make_average1d(const kernel_context& c) {
  const auto matrix = averaging_matrix(averaged_steps(c.step), c.step.in.sizes[0]);
  return {[steps = at::tensor(matrix).view({-1, c.step.in.sizes[0]}).to(c.device)](
              inputs in, bool) {
    return at::linear(in[0].transpose(1, 2), steps.to(in[0].scalar_type()))
        .transpose(1, 2);
  }};
}

constexpr std::array rows{
    kernel_row{"conv1d", make_conv1d},         kernel_row{"grouped_conv1d", make_conv1d},
    kernel_row{"max_pool1d", make_max_pool1d}, kernel_row{"avg_pool1d", make_avg_pool1d},
    kernel_row{"average1d", make_average1d},
};

} // namespace

std::span<const kernel_row> sequence_kernels() {
  return rows;
}

} // namespace clade
