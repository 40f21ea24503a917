#pragma once

#include "engine/program/kernels/kernel.hpp"
#include "engine/training/network/device_data.hpp"
#include "engine/training/weights/weights.hpp"
#include "search_spaces/operators/network.hpp"

#include <torch/nn/module.h>

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

// Costs 10 s to compile: included by few .cpp files, and by no header.

namespace clade {

/// A decoded network as LibTorch computes it. Initial values, and what dropout drops, are
/// a pure function of the network and the key: each layer draws from its own name's
/// stream.
class network_module : public torch::nn::Module {
public:
  network_module(const network& n, const training_key& key, const at::Device& device);

  at::Tensor forward(at::Tensor examples);

  /// Its layers, for who computes only some of them, or one at a time. `forward` computes
  /// them in this order.
  [[nodiscard]] std::size_t layers() const { return layers_.size(); }
  /// The layers whose outputs enter it; none: the examples do.
  [[nodiscard]] std::span<const std::size_t> inputs_of(std::size_t layer) const {
    return layers_[layer].inputs;
  }
  /// `scales`: as `draw_branch_scales` gave them for these examples.
  [[nodiscard]] at::Tensor forward_layer(std::size_t layer,
                                         std::vector<at::Tensor> inputs,
                                         const at::Tensor& scales) const;
  /// The examples as the first layers want them in memory.
  [[nodiscard]] at::Tensor as_input(const at::Tensor& examples) const;
  /// Returns the factors of each residual branch for each example, [branches, examples];
  /// undefined if all stay.
  [[nodiscard]] at::Tensor draw_branch_scales(std::int64_t examples);

  using state_range = program_layer::range;
  /// Returns the part of `state()` that a layer has.
  [[nodiscard]] state_range state_of(std::size_t layer) const {
    return layers_[layer].state;
  }
  /// Multiply-adds, and outputs, for one example: about how long it takes.
  [[nodiscard]] std::uint64_t work_of(std::size_t layer) const {
    return layers_[layer].work;
  }

  /// Called before and after `forward` computes each layer.
  struct layer_watch {
    std::function<void(std::size_t)> before, after;
  };
  void watch(layer_watch w) { watch_ = std::move(w); }

  /// From now on images and the weights of convolutions lie in memory with their channels
  /// last. For a network that has no optimiser yet, which shares its weights' storage.
  void use_channels_last();
  /// From now on training leaves out residual branches, for each example by chances of
  /// their own: the last branch with chance `chance`, branch l of n with l / n of it. A
  /// branch that stays is divided by its chance of staying, so that evaluation has
  /// nothing to correct (Huang et al., "Deep Networks with Stochastic Depth", ECCV 2016).
  void use_stochastic_depth(double chance, const training_key& key);
  /// Whether layers have constants that come from the examples of the training part; they
  /// are part of the weights, so that a network that loads weights need not observe.
  [[nodiscard]] bool observes() const;
  void observe(const at::Tensor& examples);

  struct named_tensor {
    std::string name; ///< "n3f2a1.weight"
    at::Tensor tensor;
  };

  /// Parameters and buffers (running means), in the order of the layers.
  [[nodiscard]] const std::vector<named_tensor>& state() const { return state_; }

  [[nodiscard]] std::vector<weight_tensor> weights() const;

  /// Takes over weights that the same network gave; an error of kind corrupt names the
  /// first tensor that is missing, left over or of another shape.
  [[nodiscard]] expected<void> load(std::span<const weight_tensor> weights);

  /// For scores without training (zero_cost.hpp): from now on there is no normalisation,
  /// or no dropout, in training either.
  void leave_out_norms();
  void stop_dropping();

  /// Returns the states of the generators of its layers, in the order of layers, and then
  /// of the one of stochastic depth. States that another kind of device gave are passed
  /// over: numbers are then drawn from the beginning again.
  [[nodiscard]] std::vector<bytes> random_states() const;
  void set_random_states(std::span<const bytes> states);
  /// Its generators begin anew: what they draw from now on comes from this stream.
  void draw_from(random_stream stream);
  /// The same for the generator of one layer, if it has one, as if it were for all.
  void draw_from(random_stream stream, std::size_t layer);

private:
  struct step {
    kernel computes;
    bool normalises = false;
    bool left_out = false; ///< It passes on what enters it.
  };
  struct module_layer {
    std::vector<step> steps; ///< Each follows the one before it.
    std::vector<std::size_t> inputs;
    /// For a layer whose first input is a residual branch: the branch's number.
    std::optional<std::int64_t> branch;
    state_range state;
    std::uint64_t work = 0;
  };

  /// `tensors`: those of all layers before, to which its own are added.
  void add_layer(const program& p, const program_layer& l, const training_key& key,
                 std::vector<at::Tensor>& tensors);
  template<class Each>
  void for_each_step(Each each);
  [[nodiscard]] std::vector<at::Generator> generators() const;

  std::vector<module_layer> layers_;
  std::vector<named_tensor> state_;
  at::Device device_;
  bool channels_last_ = false;
  std::int64_t branches_ = 0;
  at::Tensor kept_; ///< [branches, 1]: their chances to stay; undefined: all stay.
  at::Generator depth_generator_;
  layer_watch watch_;
};

} // namespace clade
