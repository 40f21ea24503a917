// Attention over the steps of sequences [N, steps, features], written out as products and a
// softmax: no fused kernel has the same bits on every device, or exports that equal it.
#include "engine/program/kernels/kernel.hpp"
#include "engine/program/lower/windows.hpp"

#include <ATen/ATen.h>

#include <array>
#include <cmath>

namespace clade {
namespace {

using inputs = kernel::inputs;

kernel make_attention(const kernel_context& c) {
  const auto heads = integer_setting(c.step.settings, "heads");
  const auto each = c.step.out.units() / heads;
  const auto steps = c.step.in.sizes[0];
  at::Tensor later;
  if (text_setting(c.step.settings, "sees") == "before")
    later = at::tensor(later_steps(steps)).view({steps, steps}).to(c.device);
  return {[weight = c.tensor("weight"), bias = c.tensor("bias"), heads, each,
           root = std::sqrt(static_cast<double>(each)), later](inputs in, bool) {
    const auto& x = in[0];
    const auto mapped = at::linear(x, weight, bias)
                            .view({x.size(0), x.size(1), 3, heads, each})
                            .permute({2, 0, 3, 1, 4});
    auto products = at::matmul(mapped[0], mapped[1].transpose(2, 3)) / root;
    if (later.defined())
      products = products + later.to(products.scalar_type());
    return at::matmul(products.softmax(3), mapped[2])
        .transpose(1, 2)
        .reshape({x.size(0), x.size(1), heads * each});
  }};
}

kernel make_positions(const kernel_context& c) {
  const auto& shape = c.step.in.sizes; // [steps, features]
  return {[places = c.tensor("places"), steps = shape[0], features = shape[1]](inputs in,
                                                                               bool) {
    return in[0] + places.view({steps, features});
  }};
}

kernel make_patches(const kernel_context& c) {
  return {[weight = c.tensor("weight"), bias = c.tensor("bias"),
           w = patches_of(c.step)](inputs in, bool) {
    const auto x =
        w.padded() ? at::constant_pad_nd(in[0], {0, w.right, 0, w.below}) : in[0];
    return at::conv2d(x, weight, bias, w.size).flatten(2).transpose(1, 2);
  }};
}

constexpr std::array rows{
    kernel_row{"attention", make_attention},
    kernel_row{"positions", make_positions},
    kernel_row{"patches", make_patches},
};

} // namespace

std::span<const kernel_row> attention_kernels() {
  return rows;
}

} // namespace clade
