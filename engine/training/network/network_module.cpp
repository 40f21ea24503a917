#include "engine/training/network/network_module.hpp"

#include "engine/training/network/operator_modules.hpp"
#include "engine/training/weights/tensor_copy.hpp"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <algorithm>

namespace clade {
namespace {

// LibTorch takes the dot for its own separator.
std::string torch_name(std::string name) {
  std::ranges::replace(name, '.', '_');
  return name;
}

// MKL finds out at its first use which of its functions the processor can do. If two
// threads are the first at once, one of them may compute by others, which differ in the
// last bits.
void choose_vector_functions() {
  static const auto chosen = at::tanh(at::exp(at::ones({1})));
  static_cast<void>(chosen);
}

at::Tensor scaled_by_example(const at::Tensor& values, const at::Tensor& scales) {
  std::vector<std::int64_t> shape(static_cast<std::size_t>(values.dim()), 1);
  shape.front() = values.size(0);
  return values * scales.to(values.scalar_type()).view(shape);
}

} // namespace

network_module::network_module(const network& n, const training_key& key,
                               const at::Device& device)
    : device_(device) {
  choose_vector_functions();
  for (const auto& l : n.layers) {
    const auto* op = find_operator_module(l.op);
    TORCH_CHECK(op != nullptr, "no module for the operator ", l.op);
    layer_context context{.random = key.stream(l.name), .device = device};
    auto module = op->build(l, context);
    register_module(torch_name(l.name), module);
    std::uint64_t outputs = 1;
    for (const auto size : l.out.sizes)
      outputs *= static_cast<std::uint64_t>(size);
    steps_.push_back({.module = module,
                      .inputs = l.inputs,
                      .branch = {},
                      .state = {},
                      .work = l.cost.multiply_adds + outputs});
    if (l.adds_branch)
      steps_.back().branch = branches_++;
  }
  to(device);
  for (std::size_t i = 0; i < n.layers.size(); ++i) {
    steps_[i].state.begin = state_.size();
    for (const auto& p : steps_[i].module->named_parameters())
      state_.push_back({fmt::format("{}.{}", n.layers[i].name, p.key()), p.value()});
    for (const auto& b : steps_[i].module->named_buffers())
      state_.push_back({fmt::format("{}.{}", n.layers[i].name, b.key()), b.value()});
    steps_[i].state.end = state_.size();
  }
}

void network_module::use_channels_last() {
  channels_last_ = true;
  for (auto& s : state_)
    if (s.tensor.dim() == 4)
      s.tensor.set_data(s.tensor.detach().contiguous(at::MemoryFormat::ChannelsLast));
}

void network_module::use_stochastic_depth(double chance, const training_key& key) {
  if (chance == 0 || branches_ == 0)
    return;
  const auto numbers = at::arange(1, branches_ + 1, at::kFloat).unsqueeze(1);
  kept_ = (1 - numbers * (chance / static_cast<double>(branches_))).to(device_);
  depth_generator_ = at::globalContext().defaultGenerator(device_).clone();
  depth_generator_.set_current_seed(key.stream("stochastic depth").next());
}

at::Tensor network_module::draw_branch_scales(std::int64_t examples) {
  if (!kept_.defined() || !is_training())
    return {};
  const at::NoGradGuard no_grad;
  return at::bernoulli(kept_.expand({branches_, examples}), depth_generator_).div_(kept_);
}

bool network_module::observes() const {
  return std::ranges::any_of(steps_, [](const step& s) { return s.module->observes(); });
}

void network_module::observe(const at::Tensor& examples) {
  auto left =
      std::ranges::count_if(steps_, [](const step& s) { return s.module->observes(); });
  const at::NoGradGuard no_grad;
  const bool training = is_training();
  eval();
  std::vector<at::Tensor> outputs;
  for (auto s = steps_.begin(); left > 0; ++s) {
    std::vector<at::Tensor> inputs;
    for (const auto i : s->inputs)
      inputs.push_back(outputs[i]);
    if (inputs.empty())
      inputs.push_back(examples);
    if (s->module->observes()) {
      s->module->observe(inputs.front());
      --left;
    }
    outputs.push_back(s->module->forward(inputs));
  }
  train(training);
}

at::Tensor network_module::as_input(const at::Tensor& examples) const {
  return channels_last_ && examples.dim() == 4
             ? examples.contiguous(at::MemoryFormat::ChannelsLast)
             : examples;
}

at::Tensor network_module::forward_layer(std::size_t layer,
                                         std::vector<at::Tensor> inputs,
                                         const at::Tensor& scales) const {
  const auto& s = steps_[layer];
  if (s.branch && scales.defined())
    inputs[0] = scaled_by_example(inputs[0], scales[*s.branch]);
  return s.module->forward(inputs);
}

at::Tensor network_module::forward(at::Tensor examples) {
  examples = as_input(examples);
  std::vector<at::Tensor> outputs;
  outputs.reserve(steps_.size());
  const auto scales = draw_branch_scales(examples.size(0));
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    std::vector<at::Tensor> inputs;
    for (const auto from : steps_[i].inputs)
      inputs.push_back(outputs[from]);
    if (inputs.empty())
      inputs.push_back(examples);
    if (watch_.before)
      watch_.before(i);
    outputs.push_back(forward_layer(i, std::move(inputs), scales));
    if (watch_.after)
      watch_.after(i);
  }
  return outputs.back();
}

std::vector<weight_tensor> network_module::weights() const {
  std::vector<weight_tensor> out;
  for (const auto& [name, tensor] : state_)
    out.push_back(to_host(name, tensor));
  return out;
}

void network_module::leave_out_norms() {
  for (const auto& s : steps_)
    s.module->leave_out_norm();
}

void network_module::stop_dropping() {
  for (const auto& s : steps_)
    if (s.module->generator() != nullptr)
      s.module->eval();
}

std::vector<at::Generator> network_module::generators() const {
  std::vector<at::Generator> all;
  for (const auto& s : steps_)
    if (const auto* g = s.module->generator())
      all.push_back(*g);
  if (depth_generator_.defined())
    all.push_back(depth_generator_);
  return all;
}

std::vector<bytes> network_module::random_states() const {
  std::vector<bytes> states;
  for (const auto& g : generators()) {
    const auto state = g.get_state().cpu().contiguous();
    const auto* first = static_cast<const char*>(state.const_data_ptr());
    states.emplace_back(first, static_cast<std::size_t>(state.numel()));
  }
  return states;
}

void network_module::set_random_states(std::span<const bytes> states) {
  auto all = generators();
  for (std::size_t i = 0; i < std::min(all.size(), states.size()); ++i) {
    auto state = at::empty({static_cast<std::int64_t>(states[i].size())}, at::kByte);
    if (state.numel() != all[i].get_state().numel())
      continue;
    std::ranges::copy(states[i], static_cast<char*>(state.mutable_data_ptr()));
    all[i].set_state(state);
  }
}

void network_module::draw_from(random_stream stream) {
  for (auto& g : generators())
    g.set_current_seed(stream.next());
}

void network_module::draw_from(random_stream stream, std::size_t layer) {
  auto* own = steps_[layer].module->generator();
  for (std::size_t i = 0; own != nullptr && i < layer; ++i)
    if (steps_[i].module->generator() != nullptr)
      static_cast<void>(stream.next());
  if (own != nullptr)
    own->set_current_seed(stream.next());
}

expected<void> network_module::load(std::span<const weight_tensor> weights) {
  if (weights.size() != state_.size())
    return fail(error_kind::corrupt,
                fmt::format("weights of another network: {} tensors for {}",
                            weights.size(), state_.size()));
  for (std::size_t i = 0; i < state_.size(); ++i) {
    const auto& [name, tensor] = state_[i];
    if (weights[i].name != name || !same_shape(tensor, weights[i]))
      return fail(
          error_kind::corrupt,
          fmt::format("weights of another network: {} where {} of {} values should be",
                      weights[i].name, name, tensor.numel()));
  }
  for (std::size_t i = 0; i < state_.size(); ++i)
    copy_to(state_[i].tensor, weights[i]);
  return {};
}

} // namespace clade
