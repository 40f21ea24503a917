// Pools of images, and global ones of sequences. "average" is written as two matrix
// products, rows and columns apart, since LibTorch's own kernels do not place the windows
// in this way, or are not deterministic on every device.
#include "engine/program/kernels/kernel.hpp"
#include "engine/program/lower/windows.hpp"

#include <ATen/ATen.h>

#include <array>
#include <limits>
#include <utility>

namespace clade {
namespace {

using inputs = kernel::inputs;

at::Tensor pad(const at::Tensor& x, const pool_window& w) {
  return at::constant_pad_nd(x, {w.left, w.right, w.top, w.bottom},
                             -std::numeric_limits<float>::infinity());
}

// The maximum over rows, then over columns, of the shifted images.
at::Tensor slice_maximum(at::Tensor x, const pool_window& w, const tensor_shape& out) {
  for (const std::int64_t dimension : {2, 3}) {
    const auto places = out.sizes[static_cast<std::size_t>(dimension) - 1];
    at::Tensor most;
    for (std::int64_t i = 0; i < w.kernel; ++i) {
      const auto shifted =
          x.slice(dimension, i, i + (places - 1) * w.stride + 1, w.stride);
      most = most.defined() ? at::maximum(most, shifted) : shifted;
    }
    x = most;
  }
  return x;
}

kernel make_max_pool(const kernel_context& c) {
  return {[w = pool_of(c.step), out = c.step.out](inputs in, bool) {
    auto x = in[0];
    if (!w.odd() && w.top + w.left + w.bottom + w.right > 0)
      x = pad(x, w);
    // LibTorch adds up the gradients of windows that overlap in no fixed order on a GPU.
    if (x.is_cuda() && w.stride < w.kernel)
      return slice_maximum(w.odd() ? pad(x, w) : x, w, out);
    const auto padding = w.odd() ? w.top : 0;
    return at::max_pool2d(x, {w.kernel, w.kernel}, {w.stride, w.stride},
                          {padding, padding});
  }};
}

kernel make_avg_pool(const kernel_context& c) {
  return {[w = pool_of(c.step)](inputs in, bool) {
    return at::avg_pool2d(in[0], {w.kernel, w.kernel}, {w.stride, w.stride},
                          {w.top, w.top},
                          /*ceil_mode=*/false, /*count_include_pad=*/false);
  }};
}

// rows X columns', for each channel. Both products are over the last dimension, since
// LibTorch makes one multiplication of those, and one for each channel and example of the
// others. The matrices are no part of the weights.
kernel make_average(const kernel_context& c) {
  const auto spans = averaged(c.step);
  const auto matrix = [&](const averaged_spans::span_list& all, std::int64_t size) {
    return at::tensor(averaging_matrix(all, size)).view({-1, size}).to(c.device);
  };
  return {[rows = matrix(spans.rows, c.step.in.sizes[1]),
           columns = matrix(spans.columns, c.step.in.sizes[2])](inputs in, bool) {
    const auto precision = in[0].scalar_type();
    const auto narrowed =
        at::linear(in[0], columns.to(precision)).transpose(2, 3).contiguous();
    return at::linear(narrowed, rows.to(precision)).transpose(2, 3).contiguous();
  }};
}

kernel make_global_avg(const kernel_context&) {
  return {[](inputs in, bool) {
    return in[0].dim() == 3 ? in[0].mean({1}) : in[0].mean({2, 3});
  }};
}

kernel make_global_max(const kernel_context&) {
  return {[](inputs in, bool) {
    return in[0].dim() == 3 ? in[0].amax({1}) : in[0].amax({2, 3});
  }};
}

constexpr std::array rows{
    kernel_row{"max_pool", make_max_pool},
    kernel_row{"avg_pool", make_avg_pool},
    kernel_row{"average", make_average},
    kernel_row{"global_avg_pool", make_global_avg},
    kernel_row{"global_max_pool", make_global_max},
};

} // namespace

std::span<const kernel_row> pool_kernels() {
  return rows;
}

} // namespace clade
