#pragma once

#include "engine/training/asked/training_params.hpp"
#include "engine/training/network/network_module.hpp"
#include "engine/training/parallel/common/ordered_sum.hpp"

#include <vector>

namespace clade {

/// A pass of some examples through a network's layers and back, layer by layer, each with a
/// graph of its own, so that whoever makes it may do something between two layers. The
/// gradients are those of one backward pass through all, bit for bit. A parameter's values
/// are read while its layer is passed, either way, and may be away in between.
class layer_pass {
public:
  layer_pass(network_module& net, float_format precision, const at::Tensor& examples);

  /// `scales`: as of `network_module::forward_layer`.
  void forward(std::size_t layer, const at::Tensor& scales);

  /// Returns the output that a layer gave, and whether gradients of it are wanted; the
  /// output of a layer that another member passed is put in. The last layer's is for the
  /// loss.
  [[nodiscard]] const at::Tensor& output(std::size_t layer) const {
    return outputs_[layer];
  }
  void put_output(std::size_t layer, at::Tensor output, bool wants_gradient);
  [[nodiscard]] bool wants_gradient(std::size_t layer) const { return wants_[layer]; }

  /// There will be no more layers: outputs are kept as far as the way back needs them.
  void end_forward();

  /// The gradient of a layer's output so far, undefined where nothing led to it; more of it
  /// is added by `backward` of layers that the output entered.
  [[nodiscard]] const at::Tensor& gradient(std::size_t layer) const {
    return gradients_[layer];
  }
  void put_gradient(std::size_t layer, at::Tensor gradient) {
    gradients_[layer] = std::move(gradient);
  }
  /// The gradients of the layer's parameters, in the order of `network_module::state`;
  /// undefined ones where nothing led to them.
  [[nodiscard]] tensor_list backward(std::size_t layer);

private:
  struct passed {
    std::vector<std::size_t> from;
    tensor_list inputs; ///< Leaves of the layer's graph.
    at::Tensor output;
  };

  network_module& net_;
  float_format precision_;
  at::Tensor examples_;
  std::vector<passed> layers_;
  tensor_list outputs_, gradients_;
  std::vector<bool> wants_;
};

} // namespace clade
