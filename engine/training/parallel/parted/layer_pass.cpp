#include "engine/training/parallel/parted/layer_pass.hpp"

#include "engine/training/network/autocast.hpp"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/autograd.h>

// A tensor that enters a layer is detached, so that its graph ends there. Gradients of an
// output that enters several layers are added up from the last of these on, as autograd
// does, which works through a graph from what was computed last.

namespace clade {

layer_pass::layer_pass(network_module& net, float_format precision,
                       const at::Tensor& examples)
    : net_(net),
      precision_(precision),
      examples_(net.as_input(examples)),
      layers_(net.layers()),
      outputs_(net.layers()),
      gradients_(net.layers()),
      wants_(net.layers(), false) {}

void layer_pass::forward(std::size_t layer, const at::Tensor& scales) {
  auto& here = layers_[layer];
  const auto from = net_.inputs_of(layer);
  here.from.assign(from.begin(), from.end());
  for (const auto i : here.from)
    here.inputs.push_back(outputs_[i].detach().requires_grad_(wants_[i]));
  if (here.inputs.empty())
    here.inputs.push_back(examples_);
  const autocast_guard autocast(examples_.device().type(), precision_);
  here.output = net_.forward_layer(layer, here.inputs, scales);
  outputs_[layer] = here.output.detach();
  wants_[layer] = here.output.requires_grad();
}

void layer_pass::put_output(std::size_t layer, at::Tensor output, bool wants_gradient) {
  outputs_[layer] = std::move(output);
  wants_[layer] = wants_gradient;
}

void layer_pass::end_forward() {
  outputs_.assign(outputs_.size(), {});
}

tensor_list layer_pass::backward(std::size_t layer) {
  auto here = std::move(layers_[layer]);
  auto gradient = std::move(gradients_[layer]);
  const auto state = net_.state_of(layer);
  tensor_list wanted;
  std::vector<std::size_t> inputs;
  for (std::size_t i = 0; i < here.from.size(); ++i)
    if (here.inputs[i].requires_grad()) {
      wanted.push_back(here.inputs[i]);
      inputs.push_back(here.from[i]);
    }
  const auto parameters = static_cast<std::ptrdiff_t>(wanted.size());
  for (auto s = state.begin; s < state.end; ++s)
    if (const auto& t = net_.state()[s].tensor; t.requires_grad())
      wanted.push_back(t);
  if (!gradient.defined() || wanted.empty())
    return tensor_list(wanted.size() - inputs.size());
  auto found = torch::autograd::grad({here.output}, wanted, {gradient},
                                     /*retain_graph=*/false, /*create_graph=*/false,
                                     /*allow_unused=*/true);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    auto& sum = gradients_[inputs[i]];
    if (found[i].defined())
      sum = sum.defined() ? sum + found[i] : found[i];
  }
  return {found.begin() + parameters, found.end()};
}

} // namespace clade
