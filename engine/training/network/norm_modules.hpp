#pragma once

#include "engine/training/network/operator_modules.hpp"

namespace clade {

/// Batch or layer normalisation, or none, of examples with `channels` in front.
class norm_module : public layer_module {
public:
  /// `kind` is "batch", "layer" or "none"; `weight` is the initial one.
  norm_module(std::string_view kind, std::int64_t channels, double weight = 1);

  at::Tensor forward(std::span<const at::Tensor> in) override;
  void leave_out_norm() override { left_out_ = true; }

private:
  at::Tensor weight_, bias_, mean_, variance_;
  bool left_out_ = false;
};

/// The operators that normalise, as `operator_module::build`.
[[nodiscard]] std::shared_ptr<layer_module> build_batch_norm(const layer& l,
                                                             layer_context& context);
[[nodiscard]] std::shared_ptr<layer_module> build_layer_norm(const layer& l,
                                                             layer_context& context);
[[nodiscard]] std::shared_ptr<layer_module> build_channel_norm(const layer& l,
                                                               layer_context& context);

} // namespace clade
