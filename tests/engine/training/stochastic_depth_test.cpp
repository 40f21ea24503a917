#include "engine/training/network/network_module.hpp"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <catch2/catch.hpp>

using namespace clade;

namespace {

constexpr training_key key{.seed = 1, .id = 1};

/// Two residual branches, each of which adds 1 to the number that enters it.
std::unique_ptr<network_module> a_network_of_two_branches() {
  const tensor_shape one{{1}};
  network n;
  n.layers.push_back({.name = "input", .op = "input", .out = one});
  for (std::size_t before = 0; before < 4; before += 2) {
    const auto name = std::to_string(before);
    n.layers.push_back({.name = name + ".branch",
                        .op = "project",
                        .inputs = {before},
                        .in = {one},
                        .out = one});
    n.layers.push_back({.name = name + ".add",
                        .op = "add",
                        .inputs = {before + 1, before},
                        .in = {one, one},
                        .out = one,
                        .adds_branch = true});
  }
  auto net = std::make_unique<network_module>(n, key, at::kCPU);
  const at::NoGradGuard no_grad;
  for (const auto& [name, tensor] : net->state())
    tensor.detach().fill_(name.ends_with("bias") ? 1 : 0);
  return net;
}

double share_of(const at::Tensor& which) {
  return which.to(at::kDouble).mean().item<double>();
}

} // namespace

TEST_CASE("stochastic depth: a branch stays by its chance and is divided by it") {
  const auto net = a_network_of_two_branches();
  net->use_stochastic_depth(0.5, key);
  net->train();
  const auto out = net->forward(at::zeros({10'000, 1}));
  const auto is = [&](double value) { return at::isclose(out, at::full({1}, value)); };
  const double first = 1 / 0.75, second = 1 / 0.5;
  CHECK(share_of(is(0)) == Approx(0.25 * 0.5).margin(0.02));
  CHECK(share_of(is(first)) == Approx(0.75 * 0.5).margin(0.02));
  CHECK(share_of(is(second)) == Approx(0.25 * 0.5).margin(0.02));
  CHECK(share_of(is(first + second)) == Approx(0.75 * 0.5).margin(0.02));
  CHECK(share_of(out) == Approx(2).margin(0.05));
}

TEST_CASE("stochastic depth: an evaluation has all branches") {
  const auto net = a_network_of_two_branches();
  net->use_stochastic_depth(0.8, key);
  net->eval();
  CHECK(at::equal(net->forward(at::zeros({5, 1})), at::full({5, 1}, 2.0)));
}

TEST_CASE("stochastic depth: a chance of 0 draws nothing and keeps no generator") {
  const auto net = a_network_of_two_branches();
  net->use_stochastic_depth(0, key);
  net->train();
  CHECK(net->random_states().empty());
  CHECK(at::equal(net->forward(at::zeros({5, 1})), at::full({5, 1}, 2.0)));
}

TEST_CASE("stochastic depth: a network draws on from where another one stood") {
  const auto first = a_network_of_two_branches(), second = a_network_of_two_branches();
  for (const auto* net : {&first, &second}) {
    (*net)->use_stochastic_depth(0.5, key);
    (*net)->train();
  }
  const auto batch = at::zeros({50, 1});
  const auto begun = first->forward(batch);
  second->set_random_states(first->random_states());
  const auto next = first->forward(batch);
  CHECK(at::equal(second->forward(batch), next));
  CHECK_FALSE(at::equal(begun, next));
}
