#include "engine/training/loop/branch_importance.hpp"

#include "engine/training/network/loss.hpp"
#include "engine/training/network/network_module.hpp"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace clade {
namespace {

using branch_name = std::pair<std::string, std::string>;

/// By layer, the branch whose end it is.
std::map<std::size_t, branch_name> ends_of_branches(const network& n) {
  std::map<std::size_t, branch_name> ends;
  for (std::size_t i = 0; i < n.layers.size(); ++i) {
    const auto& l = n.layers[i];
    if (!l.chosen_by.empty())
      ends[i] = {l.name.substr(0, l.name.find('.')), l.chosen_by};
  }
  return ends;
}

/// The predictions of examples, and what the branches give on the way.
struct passed_forward {
  at::Tensor said;
  std::vector<at::Tensor> given;
};

passed_forward pass(network_module& module, const at::Tensor& features,
                    const std::map<std::size_t, branch_name>& ends) {
  const auto examples = module.as_input(features);
  passed_forward passed;
  std::vector<at::Tensor> outputs;
  for (std::size_t i = 0; i < module.layers(); ++i) {
    std::vector<at::Tensor> inputs;
    for (const auto from : module.inputs_of(i))
      inputs.push_back(outputs[from]);
    if (inputs.empty())
      inputs.push_back(examples);
    outputs.push_back(module.forward_layer(i, std::move(inputs), {}));
    if (!ends.contains(i))
      continue;
    // A branch that passes on what enters it would share that one's gradient.
    auto& given = outputs.back();
    given = given.view_as(given);
    if (!given.requires_grad())
      given.requires_grad_();
    passed.given.push_back(given);
  }
  passed.said = outputs.back();
  return passed;
}

} // namespace

std::vector<branch_importance> branch_importances(network_module& module,
                                                  const network& n,
                                                  const device_data& data,
                                                  std::int64_t batch_size) {
  const auto ends = ends_of_branches(n);
  if (ends.empty())
    return {};
  const at::AutoGradMode with_gradients(true);
  module.eval();
  const auto count = std::min(data.validation.size(0), branch_examples);
  std::map<branch_name, double> sums;
  for (std::int64_t from = 0; from < count; from += batch_size) {
    const auto some = data.validation.narrow(0, from, std::min(batch_size, count - from));
    const auto passed = pass(module, data.features.rows(some), ends);
    const auto loss =
        loss_of(data.task.loss, passed.said, data.targets.index_select(0, some),
                {.reduction = at::Reduction::Sum,
                 .class_weights = data.class_weights,
                 .quantiles = data.quantiles});
    const auto gradients = torch::autograd::grad({loss}, passed.given, {}, std::nullopt,
                                                 false, /*allow_unused=*/true);
    std::map<branch_name, at::Tensor> by_example;
    std::size_t i = 0;
    for (const auto& [layer, name] : ends) {
      const auto& gradient = gradients[i];
      const auto given = passed.given[i++].detach();
      const auto change =
          gradient.defined()
              ? (given * gradient).to(at::kDouble).flatten(1).sum(1)
              : at::zeros({some.size(0)}, given.options().dtype(at::kDouble));
      auto& all = by_example[name];
      all = all.defined() ? all + change : change;
    }
    for (const auto& [name, change] : by_example)
      sums[name] += change.abs().sum().item<double>();
  }
  std::vector<branch_importance> importances;
  for (const auto& [name, sum] : sums)
    if (std::isfinite(sum))
      importances.push_back({name.first, name.second, sum / static_cast<double>(count)});
  return importances;
}

} // namespace clade
