#include "engine/training/network/network_module.hpp"

#include "engine/training/weights/tensor_copy.hpp"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <algorithm>

namespace clade {
namespace {

// LibTorch takes the dot for its own separator.
std::string torch_name(std::string name) {
  std::ranges::replace(name, '.', ':');
  return name;
}

at::Tensor drawn(const tensor_entry& t, random_stream& random) {
  auto values = at::empty(t.shape(), at::kFloat);
  draw(t, random, {values.data_ptr<float>(), static_cast<std::size_t>(values.numel())});
  return values;
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
  const auto lowered = lower(n);
  const auto sound = check(lowered);
  TORCH_CHECK(sound, sound ? "" : sound.error().message);
  std::vector<at::Tensor> tensors;
  for (const auto& l : lowered.layers)
    add_layer(lowered, l, key, tensors);
  to(device);
}

// Initial values are drawn from the stream of the layer's name, and then what its kernels
// draw of it.
void network_module::add_layer(const program& p, const program_layer& l,
                               const training_key& key,
                               std::vector<at::Tensor>& tensors) {
  auto random = key.stream(l.name);
  std::vector<named_tensor> constants;
  module_layer added{.inputs = l.inputs, .state = {state_.size(), 0}, .work = l.work};
  for (auto i = l.tensors.begin; i < l.tensors.end; ++i) {
    const auto& [name, entry] = p.tensors[i];
    auto values = drawn(entry, random);
    tensors.push_back(entry.trained ? register_parameter(torch_name(name), values)
                                    : register_buffer(torch_name(name), values));
    (entry.trained ? state_ : constants).push_back({name, tensors.back()});
  }
  state_.insert(state_.end(), constants.begin(), constants.end());
  added.state.end = state_.size();
  for (auto i = l.steps.begin; i < l.steps.end; ++i) {
    const auto& s = p.steps[i];
    std::vector<at::Tensor> own;
    for (const auto& t : s.tensors)
      own.push_back(tensors[t.index]);
    const auto& row = kernel_of(s);
    added.steps.push_back(
        {.computes =
             row.make({.step = s, .tensors = own, .random = random, .device = device_}),
         .normalises = row.normalises});
  }
  if (l.adds_branch)
    added.branch = branches_++;
  layers_.push_back(std::move(added));
}

template<class Each>
void network_module::for_each_step(Each each) {
  for (auto& l : layers_)
    std::ranges::for_each(l.steps, each);
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
  return std::ranges::any_of(layers_, [](const module_layer& l) {
    return std::ranges::any_of(
        l.steps, [](const step& s) { return s.computes.observe != nullptr; });
  });
}

void network_module::observe(const at::Tensor& examples) {
  std::ptrdiff_t left = 0;
  for_each_step([&](const step& s) { left += s.computes.observe != nullptr; });
  const at::NoGradGuard no_grad;
  const bool training = is_training();
  eval();
  std::vector<at::Tensor> outputs;
  for (std::size_t i = 0; left > 0; ++i) {
    std::vector<at::Tensor> inputs;
    for (const auto from : layers_[i].inputs)
      inputs.push_back(outputs[from]);
    if (inputs.empty())
      inputs.push_back(examples);
    for (const auto& s : layers_[i].steps) {
      if (s.computes.observe) {
        s.computes.observe(inputs.front());
        --left;
      }
      inputs = {s.computes.forward(inputs, false)};
    }
    outputs.push_back(std::move(inputs.front()));
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
  const auto& l = layers_[layer];
  if (l.branch && scales.defined())
    inputs[0] = scaled_by_example(inputs[0], scales[*l.branch]);
  for (const auto& s : l.steps)
    if (!s.left_out)
      inputs = {s.computes.forward(inputs, is_training())};
  return inputs[0];
}

at::Tensor network_module::forward(at::Tensor examples) {
  examples = as_input(examples);
  std::vector<at::Tensor> outputs;
  outputs.reserve(layers_.size());
  const auto scales = draw_branch_scales(examples.size(0));
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    std::vector<at::Tensor> inputs;
    for (const auto from : layers_[i].inputs)
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
  for_each_step([](step& s) { s.left_out = s.left_out || s.normalises; });
}

void network_module::stop_dropping() {
  for_each_step(
      [](step& s) { s.left_out = s.left_out || s.computes.generator.defined(); });
}

std::vector<at::Generator> network_module::generators() const {
  std::vector<at::Generator> all;
  for (const auto& l : layers_)
    for (const auto& s : l.steps)
      if (s.computes.generator.defined())
        all.push_back(s.computes.generator);
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
  for (std::size_t i = 0; i <= layer; ++i)
    for (auto& s : layers_[i].steps)
      if (s.computes.generator.defined()) {
        const auto seed = stream.next();
        if (i == layer)
          s.computes.generator.set_current_seed(seed);
      }
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
