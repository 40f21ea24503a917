#include "engine/training/loop/training_steps.hpp"

#include "engine/training/network/autocast.hpp"
#include "engine/training/network/loss.hpp"
#include "engine/training/network/optimiser.hpp"
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

class steps_alone final : public training_steps {
public:
  steps_alone(network_module& net, const step_rules& rules)
      : training_steps(net),
        rules_(rules),
        optimiser_(rules.recipe, net.parameters(),
                   rules.precision == float_format::float16) {}

  at::Tensor step(const batch& b, double learning_rate) override {
    const auto loss = loss_of_share(net_, b, b, rules_);
    optimiser_.scaled(loss).backward();
    optimiser_.step(learning_rate);
    return loss.detach();
  }
  [[nodiscard]] std::uint64_t count() const override { return optimiser_.steps(); }
  [[nodiscard]] std::vector<bytes> random_states() const override {
    return net_.random_states();
  }
  void set_random_states(std::span<const bytes> states) override {
    net_.set_random_states(states);
  }

private:
  [[nodiscard]] std::vector<at::Tensor> moment_tensors() const override {
    return optimiser_.moments();
  }
  void begin_after(std::uint64_t steps) override { optimiser_.go_on_after(steps); }

  step_rules rules_;
  optimiser optimiser_;
};

} // namespace

random_stream step_rules::stream_of_share(std::size_t share, std::uint64_t step) const {
  auto own = key;
  own.share = static_cast<std::uint32_t>(share);
  return own.stream("step", step);
}

std::vector<at::Tensor> training_steps::state() const {
  std::vector<at::Tensor> all;
  for (const auto& s : net_.state())
    all.push_back(s.tensor);
  return all;
}

std::vector<weight_tensor> training_steps::whole(std::span<const at::Tensor> values) {
  std::vector<weight_tensor> all;
  for (std::size_t i = 0; i < values.size(); ++i)
    all.push_back(to_host(net_.state()[i].name, values[i]));
  return all;
}

std::vector<weight_tensor> training_steps::moments() {
  std::vector<weight_tensor> all;
  for (const auto& m : moment_tensors())
    all.push_back(to_host("", m));
  return all;
}

void training_steps::go_on_after(std::uint64_t steps,
                                 std::span<const weight_tensor> moments) {
  const auto own = moment_tensors();
  if (!std::ranges::equal(own, moments, same_shape))
    return;
  for (std::size_t i = 0; i < own.size(); ++i)
    copy_to(own[i], moments[i]);
  begin_after(steps);
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
  const loss_options options{.class_weights = rules.class_weights,
                             .label_smoothing = rules.recipe.label_smoothing};
  const auto part = [&](const at::Tensor& targets, const at::Tensor& of_whole) {
    auto loss = loss_of(rules.loss, predictions, targets, options);
    return all ? loss : loss * share_of(targets, of_whole, rules);
  };
  auto loss = part(b.targets, whole.targets);
  if (b.other_targets.defined())
    loss = b.share * loss + (1 - b.share) * part(b.other_targets, whole.other_targets);
  return loss;
}

std::unique_ptr<training_steps>
one_device_steps(network_module& net, const step_rules& rules, const handed_over&) {
  return std::make_unique<steps_alone>(net, rules);
}

} // namespace clade
