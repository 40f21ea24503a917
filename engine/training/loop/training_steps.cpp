#include "engine/training/loop/training_steps.hpp"

#include "engine/training/network/autocast.hpp"
#include "engine/training/network/loss.hpp"
#include "engine/training/weights/tensor_copy.hpp"

#include <ATen/ATen.h>

#include <algorithm>

namespace clade {
namespace {

at::Tensor forward(network_module& net, const at::Tensor& features, float_format p) {
  const autocast_guard autocast(features.device().type(), p);
  return as_predictions(net.forward(features));
}

/// Returns the share of the whole that a part's targets count, where a mean is taken.
at::Tensor share_of(const at::Tensor& targets, const at::Tensor& whole,
                    const step_rules& rules) {
  if (!rules.class_weights.defined())
    return at::scalar_tensor(static_cast<double>(targets.size(0))
                             / static_cast<double>(whole.size(0)));
  const auto weight = [&](const at::Tensor& t) {
    return rules.class_weights.index_select(0, t).sum();
  };
  return weight(targets) / weight(whole);
}

class steps_alone final : public training_step, public whole_position {
public:
  steps_alone(network_module& net, const step_rules& rules)
      : whole_position(net, rules, rules.precision == float_format::float16) {}

  at::Tensor step(const batch& b, double learning_rate) override {
    const auto loss = loss_of_share(net_, b, b, rules_);
    optimiser_.scaled(loss).backward();
    optimiser_.step(learning_rate);
    return loss.detach();
  }
};

} // namespace

random_stream step_rules::stream_of_share(std::size_t share, std::uint64_t step) const {
  auto own = key;
  own.share = static_cast<std::uint32_t>(share);
  return own.stream("step", step);
}

std::vector<at::Tensor> whole_position::state() const {
  std::vector<at::Tensor> all;
  for (const auto& s : net_.state())
    all.push_back(s.tensor);
  return all;
}

std::vector<weight_tensor> whole_position::whole(std::span<const at::Tensor> values) {
  return with_names(net_, values);
}

std::vector<weight_tensor> whole_position::moments() {
  return without_names(optimiser_.moments());
}

void whole_position::go_on_after(std::uint64_t steps,
                                 std::span<const weight_tensor> moments) {
  if (copy_back(optimiser_.moments(), moments))
    optimiser_.go_on_after(steps);
}

std::vector<weight_tensor> with_names(const network_module& net,
                                      std::span<const at::Tensor> values) {
  std::vector<weight_tensor> all;
  for (std::size_t i = 0; i < values.size(); ++i)
    all.push_back(to_host(net.state()[i].name, values[i]));
  return all;
}

std::vector<weight_tensor> without_names(std::span<const at::Tensor> all) {
  std::vector<weight_tensor> stored;
  for (const auto& t : all)
    stored.push_back(to_host("", t));
  return stored;
}

bool copy_back(std::span<const at::Tensor> to, std::span<const weight_tensor> from) {
  if (!std::ranges::equal(to, from, same_shape))
    return false;
  for (std::size_t i = 0; i < to.size(); ++i)
    copy_to(to[i], from[i]);
  return true;
}

// Losses are sums, which need float32.
at::Tensor as_predictions(const at::Tensor& output) {
  return output.scalar_type() == at::kDouble ? output : output.to(at::kFloat);
}

at::Tensor loss_of_share(network_module& net, const batch& b, const batch& whole,
                         const step_rules& rules) {
  return loss_of_predictions(forward(net, b.features, rules.precision), b, whole, rules);
}

at::Tensor loss_of_predictions(const at::Tensor& predictions, const batch& b,
                               const batch& whole, const step_rules& rules) {
  const bool all = b.targets.size(0) == whole.targets.size(0);
  const auto part = [&](const at::Tensor& targets, const at::Tensor& weights,
                        const at::Tensor& of_whole) {
    auto loss = loss_of(rules.loss, predictions, targets,
                        {.class_weights = rules.class_weights,
                         .weights = weights,
                         .quantiles = rules.quantiles,
                         .label_smoothing = rules.recipe.label_smoothing});
    return all ? loss : loss * share_of(targets, of_whole, rules);
  };
  auto loss = part(b.targets, b.weights, whole.targets);
  if (b.other_targets.defined())
    loss = b.share * loss
           + (1 - b.share) * part(b.other_targets, b.other_weights, whole.other_targets);
  return loss;
}

training_parts one_device_steps(network_module& net, const step_rules& rules,
                                const handed_over&) {
  const auto steps = std::make_shared<steps_alone>(net, rules);
  return {.step = steps, .position = steps, .keyed = false};
}

} // namespace clade
