#include "engine/training/network/norm_modules.hpp"

#include <ATen/ATen.h>

namespace clade {
namespace {

constexpr double norm_module_epsilon = 1e-5;

// Normalises each pixel over its channels.
class channel_norm_module final : public layer_module {
public:
  explicit channel_norm_module(std::int64_t channels)
      : weight_(register_parameter("weight", at::ones({channels}))),
        bias_(register_parameter("bias", at::zeros({channels}))) {}

  at::Tensor forward(std::span<const at::Tensor> in) override {
    if (left_out_)
      return in[0];
    const auto last = in[0].permute({0, 2, 3, 1});
    return at::layer_norm(last, weight_.sizes(), weight_, bias_, norm_module_epsilon)
        .permute({0, 3, 1, 2});
  }

  void leave_out_norm() override { left_out_ = true; }

private:
  at::Tensor weight_, bias_;
  bool left_out_ = false;
};

std::int64_t normalised_channels(const layer& l) {
  return l.in.front().sizes.front();
}

} // namespace

norm_module::norm_module(std::string_view kind, std::int64_t channels, double weight) {
  if (kind == "none")
    return;
  weight_ = register_parameter("weight", at::full({channels}, weight));
  bias_ = register_parameter("bias", at::zeros({channels}));
  if (kind != "batch")
    return;
  mean_ = register_buffer("running_mean", at::zeros({channels}));
  variance_ = register_buffer("running_var", at::ones({channels}));
}

at::Tensor norm_module::forward(std::span<const at::Tensor> in) {
  if (!weight_.defined() || left_out_)
    return in[0];
  if (mean_.defined())
    return at::batch_norm(in[0], weight_, bias_, mean_, variance_, is_training(),
                          /*momentum=*/0.1, norm_module_epsilon, /*cudnn_enabled=*/true);
  return at::group_norm(in[0], /*num_groups=*/1, weight_, bias_, norm_module_epsilon);
}

std::shared_ptr<layer_module> build_batch_norm(const layer& l, layer_context&) {
  return std::make_shared<norm_module>("batch", normalised_channels(l));
}

std::shared_ptr<layer_module> build_layer_norm(const layer& l, layer_context&) {
  return std::make_shared<norm_module>("layer", normalised_channels(l));
}

std::shared_ptr<layer_module> build_channel_norm(const layer& l, layer_context&) {
  return std::make_shared<channel_norm_module>(normalised_channels(l));
}

} // namespace clade
