// Normalisations of examples with channels or features in front; those of sequences have
// their features moved there.
#include "engine/program/kernels/kernel.hpp"

#include <ATen/ATen.h>

#include <array>

namespace clade {
namespace {

/// Calls `f` with the channels or features behind the batch.
template<class F>
at::Tensor by_channel(const at::Tensor& x, F f) {
  return x.dim() == 3 ? f(x.transpose(1, 2)).transpose(1, 2) : f(x);
}

kernel make_batch_norm(const kernel_context& c) {
  return {[weight = c.tensor("weight"), bias = c.tensor("bias"),
           mean = c.tensor("running_mean"),
           variance = c.tensor("running_var")](kernel::inputs in, bool training) {
    return by_channel(in[0], [&](const at::Tensor& x) {
      return at::batch_norm(x, weight, bias, mean, variance, training,
                            /*momentum=*/0.1, norm_epsilon, /*cudnn_enabled=*/true);
    });
  }};
}

kernel make_layer_norm(const kernel_context& c) {
  return {
      [weight = c.tensor("weight"), bias = c.tensor("bias")](kernel::inputs in, bool) {
        return by_channel(in[0], [&](const at::Tensor& x) {
          return at::group_norm(x, /*num_groups=*/1, weight, bias, norm_epsilon);
        });
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

kernel make_step_norm(const kernel_context& c) {
  return {
      [weight = c.tensor("weight"), bias = c.tensor("bias")](kernel::inputs in, bool) {
        return at::layer_norm(in[0], weight.sizes(), weight, bias, norm_epsilon);
      }};
}

constexpr std::array rows{
    kernel_row{"batch_norm", make_batch_norm, true},
    kernel_row{"layer_norm", make_layer_norm, true},
    kernel_row{"channel_norm", make_channel_norm, true},
    kernel_row{"step_norm", make_step_norm, true},
};

} // namespace

std::span<const kernel_row> norm_kernels() {
  return rows;
}

} // namespace clade
