// Computations without weights.
#include "engine/program/kernels/kernel.hpp"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <array>

namespace clade {
namespace {

using inputs = kernel::inputs;

template<at::Tensor (*F)(inputs)>
kernel make(const kernel_context&) {
  return {[](inputs in, bool) { return F(in); }};
}

at::Tensor pass_on(inputs in) {
  return in[0];
}
// Its gradient is 0 as well, where a product with 0 would carry on what is not finite.
at::Tensor zeros(inputs in) {
  return in[0].masked_fill(at::ones({}, in[0].options().dtype(at::kBool)), 0);
}
// The channels of an image are behind the batch, those of a sequence at the end.
at::Tensor joined(inputs in) {
  return at::cat(at::TensorList(in.data(), in.size()), in[0].dim() == 3 ? 2 : 1);
}
at::Tensor flat(inputs in) {
  return in[0].flatten(1);
}
at::Tensor one_pixel(inputs in) {
  return in[0].unsqueeze(2).unsqueeze(3);
}
at::Tensor one_step(inputs in) {
  return in[0].unsqueeze(1);
}

at::Tensor both_sides(inputs in) {
  return at::cat({in[0], in[0].flip(3)}, 0);
}
at::Tensor mean_of_sides(inputs in) {
  const auto half = in[0].size(0) / 2;
  return (in[0].narrow(0, 0, half) + in[0].narrow(0, half, half)) * 0.5;
}

at::Tensor product(inputs in) {
  auto all = in[0] * in[1];
  for (const auto& more : in.subspan(2))
    all = all * more;
  return all;
}

at::Tensor sum(inputs in) {
  auto total = in[0] + in[1];
  for (const auto& more : in.subspan(2))
    total = total + more;
  return total;
}

struct activation_entry {
  std::string_view name;
  at::Tensor (*function)(const at::Tensor&);
};

constexpr std::array activations{
    activation_entry{"relu", [](const at::Tensor& x) { return at::relu(x); }},
    activation_entry{"leaky_relu",
                     [](const at::Tensor& x) { return at::leaky_relu(x, 0.01); }},
    activation_entry{"elu", [](const at::Tensor& x) { return at::elu(x); }},
    activation_entry{"gelu", [](const at::Tensor& x) { return at::gelu(x); }},
    activation_entry{"silu", [](const at::Tensor& x) { return at::silu(x); }},
    activation_entry{"tanh", [](const at::Tensor& x) { return at::tanh(x); }},
    activation_entry{"sigmoid", [](const at::Tensor& x) { return at::sigmoid(x); }},
};

kernel make_activation(const kernel_context& c) {
  const auto& name = text_setting(c.step.settings, "function");
  const auto found = std::ranges::find(activations, name, &activation_entry::name);
  TORCH_CHECK(found != activations.end(), "no kernel for the activation ", name);
  return {[f = found->function](inputs in, bool) { return f(in[0]); }};
}

kernel make_dropout(const kernel_context& c) {
  auto generator = at::globalContext().defaultGenerator(c.device).clone();
  generator.set_current_seed(c.random.next());
  const auto forward = [rate = real_setting(c.step.settings, "rate"),
                        generator](inputs in, bool training) {
    if (!training || rate == 0)
      return in[0];
    const double kept = 1 - rate;
    at::Tensor mask;
    {
      const at::NoGradGuard no_grad;
      mask = at::empty_like(in[0]).bernoulli_(kept, generator).mul_(1 / kept);
    }
    return in[0] * mask;
  };
  return {.forward = forward, .generator = generator};
}

constexpr std::array rows{
    kernel_row{"input", make<pass_on>},
    kernel_row{"activation", make_activation},
    kernel_row{"identity", make<pass_on>},
    kernel_row{"zero", make<zeros>},
    kernel_row{"dropout", make_dropout},
    kernel_row{"add", make<sum>},
    kernel_row{"multiply", make<product>},
    kernel_row{"concat", make<joined>},
    kernel_row{"flatten", make<flat>},
    kernel_row{"as_image", make<one_pixel>},
    kernel_row{"as_sequence", make<one_step>},
    kernel_row{"both_sides", make<both_sides>},
    kernel_row{"mean_of_sides", make<mean_of_sides>},
};

} // namespace

std::span<const kernel_row> plain_kernels() {
  return rows;
}

} // namespace clade
