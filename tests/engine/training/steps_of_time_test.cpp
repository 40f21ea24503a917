// Networks of steps over time, against LibTorch's own layers and sums written by hand.
#include "engine/training/network/network_module.hpp"
#include "engine/training/weights/inheritance.hpp"
#include "search_spaces/operators/network.hpp"
#include "tests/support/genomes.hpp"

#include <ATen/ATen.h>
#include <catch2/catch.hpp>

using namespace clade;

namespace {

const problem of_sequences{.input = {{7, 3}}, .outputs = 2};

search_space a_space(bool recurrent) {
  search_space space;
  space.name = "space";
  space.input = layout::sequence;
  space.rules.max_recurrent = recurrent ? 4 : 0;
  return space;
}

network decoded(const genome& g, bool recurrent = true) {
  auto n = decode(a_space(recurrent), g, of_sequences);
  INFO((n ? "" : n.error().message));
  REQUIRE(n);
  return *n;
}

genome with_recurrent(genome g, innovation from, innovation to, std::uint32_t delay) {
  g.edges.push_back(test::an_edge(from, to, delay));
  return test::sorted(std::move(g));
}

at::Tensor some_sequences() {
  return at::linspace(-2, 2, 5 * 7 * 3).sin().reshape({5, 7, 3});
}

at::Tensor named(const network_module& module, const std::string& name) {
  for (const auto& s : module.state())
    if (s.name == name)
      return s.tensor;
  FAIL("no tensor is called " << name);
  return {};
}

genome a_plain_chain() {
  return test::a_chain(
      {{{}, "dense", {{"activation", "tanh"}, {"units", std::int64_t{4}}}}});
}

const innovation n2{2};

} // namespace

TEST_CASE("steps over time: layers with a state say what they say of whole sequences") {
  for (const char* op : {"gru", "lstm", "rnn", "mgu", "ugrnn", "delta_rnn"}) {
    CAPTURE(op);
    const auto chain = [&](const char* steps) {
      return test::a_chain({{{}, op, {{"steps", steps}, {"units", std::int64_t{4}}}}});
    };
    network_module by_step(decoded(chain("all")), {.seed = 1}, at::kCPU);
    network_module whole(decoded(chain("last"), false), {.seed = 2}, at::kCPU);
    auto weights = by_step.weights();
    for (auto& w : weights)
      if (w.name.starts_with("over_time."))
        w.name = w.name.substr(std::string_view("over_time.").size());
    REQUIRE(whole.load(weights));
    const auto x = some_sequences();
    CHECK(at::allclose(by_step.forward(x), whole.forward(x), 1e-5, 1e-6));
  }
}

TEST_CASE("steps over time: a recurrent edge adds what was said some steps before") {
  const auto n = decoded(with_recurrent(with_recurrent(a_plain_chain(), n2, n2, 2),
                                        input_innovation, n2, 1));
  network_module module(n, {.seed = 3}, at::kCPU);
  const auto weight = named(module, "over_time.n2.weight"),
             bias = named(module, "over_time.n2.bias"),
             itself = named(module, "over_time.n2.recall_n2_2.weight"),
             before = named(module, "over_time.n2.recall_input_1.weight");
  const auto x = some_sequences();
  std::vector<at::Tensor> said;
  for (std::int64_t t = 0; t < 7; ++t) {
    auto in = x.select(1, t);
    if (t >= 2)
      in = in + at::matmul(said[static_cast<std::size_t>(t - 2)], itself.t());
    if (t >= 1)
      in = in + at::matmul(x.select(1, t - 1), before.t());
    said.push_back(at::tanh(at::matmul(in, weight.t()) + bias));
  }
  const auto out = at::matmul(said.back(), named(module, "output.weight").t())
                   + named(module, "output.bias");
  CHECK(at::allclose(module.forward(x), out, 1e-5, 1e-6));
}

TEST_CASE("steps over time: gradients reach every weight through time") {
  const auto n = decoded(with_recurrent(a_plain_chain(), n2, n2, 3));
  network_module module(n, {.seed = 3}, at::kCPU);
  module.forward(some_sequences()).square().sum().backward();
  for (const auto& s : module.state()) {
    CAPTURE(s.name);
    CHECK(s.tensor.grad().abs().sum().item<double>() > 0);
  }
}

TEST_CASE(
    "steps over time: a child with a new recurrent edge says what its parent does") {
  const auto parent = decoded(with_recurrent(a_plain_chain(), n2, n2, 1));
  const auto child =
      decoded(with_recurrent(with_recurrent(a_plain_chain(), n2, n2, 1), n2, n2, 3));
  network_module learnt(parent, {.seed = 3}, at::kCPU),
      made(child, {.seed = 4}, at::kCPU);
  const auto weights = learnt.weights();
  const auto plan =
      plan_inheritance(child, parent, weights, derive(1, purpose::inherit, 2, 0));
  REQUIRE(made.load(inherit_weights(plan, weights, made.weights())));
  const auto x = some_sequences();
  CHECK(at::equal(made.forward(x), learnt.forward(x)));
  CHECK(named(made, "over_time.n2.recall_n2_3.weight").abs().sum().item<double>() == 0);
  // And one from which an edge was taken has the weights of the others.
  const auto fewer = decoded(a_plain_chain());
  network_module left(fewer, {.seed = 5}, at::kCPU);
  REQUIRE(left.load(inherit_weights(
      plan_inheritance(fewer, parent, weights, derive(1, purpose::inherit, 2, 0)),
      weights, left.weights())));
  CHECK(at::equal(named(left, "over_time.n2.weight"),
                  named(learnt, "over_time.n2.weight")));
  CHECK(at::equal(named(left, "output.weight"), named(learnt, "output.weight")));
}
