#include "engine/training/loop/branch_importance.hpp"
#include "engine/training/network/loss.hpp"
#include "engine/training/network/network_module.hpp"
#include "genome/variation/rewiring.hpp"
#include "search_spaces/files/load_search_space.hpp"
#include "tests/engine/training/training_data.hpp"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <catch2/catch.hpp>

#include <cmath>

using namespace clade;

namespace {

constexpr training_key key{.seed = 5, .id = 2};

constexpr std::string_view envelopes = R"(
[composites.map]
layers = [{op = "dense", units = "=channels", activation = "none"}]
[composites.envelope]
layers = [
  {op = "dense", name = "entry", units = 4},
  {op = "=a", name = "one", from = "entry"},
  {op = "=b", name = "two", from = "entry"},
  {op = "add", from = ["one", "two"]},
  {op = "activation", function = "tanh"},
]
[composites.envelope.parameters]
a = {words = ["map", "identity", "zero"]}
b = {words = ["map", "identity", "zero"]}
[operators.envelope]
words = "all"
)";

search_space space() {
  auto parsed = parse_search_space(envelopes, "envelopes.toml");
  INFO((parsed ? "" : parsed.error().message));
  REQUIRE(parsed);
  return std::move(*parsed);
}

genome an_envelope(const char* a, const char* b) {
  return chain_genome({{{}, "envelope", {{"a", a}, {"b", b}}}});
}

network decoded(const genome& g) {
  auto n = decode(space(), g, {{{2}}, 1});
  INFO((n ? "" : n.error().message));
  REQUIRE(n);
  return std::move(*n);
}

/// Numbers to learn of examples of two features, all of them the validation part.
device_data some_data(std::int64_t count) {
  device_data d;
  const auto x = at::linspace(-1, 1, count * 2).view({count, 2});
  d.features = example_tensors(x);
  d.targets = x.sum(1, /*keepdim=*/true).sin();
  d.train = d.validation = d.test = at::arange(count, at::kLong);
  d.task = regression;
  return d;
}

double loss_with(const network& n, const device_data& d, double scale) {
  network_module net(n, key, at::kCPU);
  const at::NoGradGuard no_grad;
  for (const auto& [name, tensor] : net.state())
    if (name.find(".one.") != std::string::npos)
      tensor.mul_(scale);
  net.eval();
  return loss_of(d.task.loss, net.forward(d.features.rows(d.validation)), d.targets)
      .item<double>();
}

} // namespace

TEST_CASE("branch importance: it is how fast the loss changes with a branch") {
  const auto n = decoded(an_envelope("map", "identity"));
  // There is one example, so that the mean of absolute changes is that of the change.
  const auto d = some_data(1);
  network_module net(n, key, at::kCPU);
  const auto found = branch_importances(net, n, d, 32);
  REQUIRE(found.size() == 2);
  CHECK(found[0].parameter == "a");
  CHECK(found[1].parameter == "b");
  CHECK(found[0].gene == found[1].gene);
  const double h = 1e-3;
  const auto slope = (loss_with(n, d, 1 + h) - loss_with(n, d, 1 - h)) / (2 * h);
  CHECK(found[0].importance == Approx(std::abs(slope)).epsilon(0.01));
  CHECK(found[1].importance > 0);
}

TEST_CASE("branch importance: a branch that gives nothing has none") {
  const auto n = decoded(an_envelope("map", "map"));
  network_module net(n, key, at::kCPU);
  {
    const at::NoGradGuard no_grad;
    for (const auto& [name, tensor] : net.state())
      if (name.find(".one.") != std::string::npos)
        tensor.zero_();
  }
  const auto found = branch_importances(net, n, some_data(40), 16);
  REQUIRE(found.size() == 2);
  CHECK(found[0].importance == 0);
  CHECK(found[1].importance > 0);
}

TEST_CASE(
    "branch importance: batches make no difference, and pruned ones are not there") {
  const auto n = decoded(an_envelope("identity", "zero"));
  network_module net(n, key, at::kCPU);
  const auto d = some_data(50);
  const auto at_once = branch_importances(net, n, d, 64);
  const auto in_parts = branch_importances(net, n, d, 7);
  REQUIRE(at_once.size() == 1);
  REQUIRE(in_parts.size() == 1);
  CHECK(at_once[0].parameter == "a");
  CHECK(at_once[0].importance == Approx(in_parts[0].importance));
  CHECK(branch_importances(net, decoded(chain_genome({})), d, 64).empty());
}

TEST_CASE("branch importance: a trainer tells it if it is asked, the same each time") {
  training_bench bench(separable_csv(90));
  bench.setup.space = space();
  const auto j = a_job(an_envelope("map", "identity"));
  unheard_progress nobody;
  CHECK_FALSE(bench.trainer()->evaluate(j, nobody).evaluation.branches);
  bench.setup.branches = true;
  const auto once = bench.trainer()->evaluate(j, nobody).evaluation;
  INFO(once.reason);
  REQUIRE(once.branches);
  CHECK(once.branches->size() == 2);
  const auto twice = bench.trainer()->evaluate(j, nobody).evaluation;
  CHECK(twice.branches == once.branches);
  CHECK(twice.weights_hash == once.weights_hash);
}
