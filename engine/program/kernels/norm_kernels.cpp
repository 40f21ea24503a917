// Normalisations of examples with channels or features in front.
#include "engine/program/kernels/kernel.hpp"

#include <ATen/ATen.h>

#include <array>

namespace clade {
namespace {

kernel make_batch_norm(const kernel_context& c) {
  return {[weight = c.tensor("weight"), bias = c.tensor("bias"),
           mean = c.tensor("running_mean"),
           variance = c.tensor("running_var")](kernel::inputs in, bool training) {
    return at::batch_norm(in[0], weight, bias, mean, variance, training,
                          /*momentum=*/0.1, norm_epsilon, /*cudnn_enabled=*/true);
  }};
}

kernel make_layer_norm(const kernel_context& c) {
  return {
      [weight = c.tensor("weight"), bias = c.tensor("bias")](kernel::inputs in, bool) {
        return at::group_norm(in[0], /*num_groups=*/1, weight, bias, norm_epsilon);
      }};
}

kernel make_channel_norm(const kernel_context& c) {
  return {
      [weight = c.tensor("weight"), bias = c.tensor("bias")](kernel::inputs in, bool) {
        const auto last = in[0].permute({0, 2, 3, 1});
        return at::layer_norm(last, weight.sizes(), weight, bias, norm_epsilon)
            .permute({0, 3, 1, 2});
      }};
}

constexpr std::array rows{
    kernel_row{"batch_norm", make_batch_norm, true},
    kernel_row{"layer_norm", make_layer_norm, true},
    kernel_row{"channel_norm", make_channel_norm, true},
};

} // namespace

std::span<const kernel_row> norm_kernels() {
  return rows;
}

} // namespace clade
