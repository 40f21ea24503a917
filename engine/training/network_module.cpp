#include "engine/training/network_module.hpp"

#include "engine/training/operator_modules.hpp"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>

namespace clade {
namespace {

// LibTorch takes the dot for its own separator.
std::string torch_name(std::string name) {
  std::ranges::replace(name, '.', '_');
  return name;
}

} // namespace

network_module::network_module(const network& n, const training_key& key,
                               const at::Device& device) {
  for (const auto& l : n.layers) {
    const auto* op = find_operator_module(l.op);
    TORCH_CHECK(op != nullptr, "no module for the operator ", l.op);
    layer_context context{.random = key.stream(l.name), .device = device};
    auto module = op->build(l, context);
    register_module(torch_name(l.name), module);
    steps_.push_back({.module = module, .inputs = l.inputs});
  }
  to(device);
  for (std::size_t i = 0; i < n.layers.size(); ++i) {
    for (const auto& p : steps_[i].module->named_parameters())
      state_.push_back({n.layers[i].name + "." + p.key(), p.value()});
    for (const auto& b : steps_[i].module->named_buffers())
      state_.push_back({n.layers[i].name + "." + b.key(), b.value()});
  }
}

at::Tensor network_module::forward(at::Tensor examples) {
  std::vector<at::Tensor> outputs;
  outputs.reserve(steps_.size());
  std::vector<at::Tensor> inputs;
  for (const auto& s : steps_) {
    inputs.clear();
    for (const auto i : s.inputs)
      inputs.push_back(outputs[i]);
    if (s.inputs.empty())
      inputs.push_back(examples);
    outputs.push_back(s.module->forward(inputs));
  }
  return outputs.back();
}

std::vector<weight_tensor> network_module::weights() const {
  std::vector<weight_tensor> out;
  for (const auto& [name, tensor] : state_) {
    const auto values = tensor.detach().to(at::kCPU).contiguous();
    const auto* first = values.const_data_ptr<float>();
    out.push_back({name, values.sizes().vec(), {first, first + values.numel()}});
  }
  return out;
}

expected<void> network_module::load(std::span<const weight_tensor> weights) {
  if (weights.size() != state_.size())
    return fail(error_kind::corrupt,
                "weights of another network: " + std::to_string(weights.size())
                    + " tensors for " + std::to_string(state_.size()));
  for (std::size_t i = 0; i < state_.size(); ++i) {
    const auto& [name, tensor] = state_[i];
    if (weights[i].name != name || tensor.sizes() != at::IntArrayRef(weights[i].shape))
      return fail(error_kind::corrupt,
                  "weights of another network: " + weights[i].name + " where " + name
                      + " of " + std::to_string(tensor.numel()) + " values should be");
  }
  const at::NoGradGuard no_grad;
  for (std::size_t i = 0; i < state_.size(); ++i) {
    auto* values =
        const_cast<float*>(weights[i].values.data()); // from_blob only reads here
    state_[i].tensor.copy_(at::from_blob(values, weights[i].shape, at::kFloat));
  }
  return {};
}

} // namespace clade
