// Composites whose repetitions share weights: decoded, computed, trained, inherited.
#include "engine/training/network/network_module.hpp"
#include "engine/training/weights/inheritance.hpp"
#include "engine/training/weights/initial_weights.hpp"
#include "genome/variation/rewiring.hpp"
#include "search_spaces/files/load_search_space.hpp"
#include "search_spaces/operators/mixture.hpp"
#include "tests/engine/training/training_data.hpp"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <algorithm>

using namespace clade;

namespace {

constexpr training_key key{.seed = 5, .id = 2};
const problem images{{{1, 6, 6}}, 2};

search_space space(bool share, const std::string& norm = "batch") {
  const auto text = fmt::format(R"(
image = true
[limits]
max_nodes = 2
max_skips = 0
initial_nodes = 2
[composites.block]
repeat = "times"
{}layers = [
  {{op = "conv", name = "a", filters = "=filters", norm = "{}", activation = "relu"}},
  {{op = "conv", name = "b", filters = "=filters"}},
  {{op = "add", from = ["a", "b"]}},
]
[composites.block.parameters]
filters = {{low = 1, high = 8, default = 3, width = true}}
times = {{low = 1, high = 6, default = 1}}
[operators.block]
filters = [3, 4]
times = [1, 2, 3, 4]
)",
                                share ? "share = true\n" : "", norm);
  auto parsed = parse_search_space(text, "shared.toml");
  INFO((parsed ? "" : parsed.error().message));
  REQUIRE(parsed);
  return std::move(*parsed);
}

genome blocks(std::int64_t times) {
  return chain_genome({{{}, "block", {{"filters", std::int64_t{3}}, {"times", times}}}});
}

network decoded(const search_space& s, const genome& g) {
  auto n = decode(s, g, images);
  INFO((n ? "" : n.error().message));
  REQUIRE(n);
  return std::move(*n);
}

std::vector<weight_tensor> drawn(const network& n) {
  return initial_weights(n, [](std::string_view name) { return key.stream(name); });
}

const weight_tensor& tensor(const std::vector<weight_tensor>& all,
                            const std::string& name) {
  const auto found = std::ranges::find(all, name, &weight_tensor::name);
  INFO(name);
  REQUIRE(found != all.end());
  return *found;
}

/// The name of a layer's tensor in a network of one block.
std::string named(const network& n, const std::string& ending) {
  for (const auto& l : n.layers)
    if (l.name.ends_with(ending))
      return l.name;
  FAIL("no layer ends with " << ending);
  return {};
}

at::Tensor some_images() {
  return at::linspace(-1, 1, 4 * 36).view({4, 1, 6, 6});
}

} // namespace

TEST_CASE("shared weights: repetitions have those of the first that takes the same") {
  const auto s = space(true);
  const auto twice = decoded(s, blocks(2)), often = decoded(s, blocks(4));
  // The first repetition is entered by one channel, the others by three.
  for (const auto& l : often.layers) {
    CAPTURE(l.name);
    if (l.name.ends_with(".3.a") || l.name.ends_with(".4.a"))
      CHECK(l.shares == named(often, ".2.a"));
    else if (l.name.ends_with(".2.b") || l.name.ends_with(".3.b")
             || l.name.ends_with(".4.b"))
      CHECK(l.shares == named(often, ".1.b"));
    else
      CHECK(l.shares.empty());
  }
  const auto own = decoded(space(false), blocks(2));
  CHECK(twice.cost().parameters < own.cost().parameters);
  CHECK(often.cost().parameters == twice.cost().parameters);
  CHECK(often.cost().multiply_adds > twice.cost().multiply_adds);
}

TEST_CASE("shared weights: a network computes as one that has them several times") {
  const auto n = decoded(space(true), blocks(4)),
             plain = decoded(space(false), blocks(4));
  network_module shared(n, key, at::kCPU), copied(plain, key, at::kCPU);
  CHECK(shared.weights().size() < copied.weights().size());
  auto weights = copied.weights();
  const auto of_shared = shared.weights();
  for (auto& w : weights) {
    auto name = w.name;
    for (const auto& l : n.layers)
      if (name.starts_with(l.name + ".") && !l.shares.empty()
          && name.find("running") == std::string::npos)
        name = l.shares + name.substr(l.name.size());
    w.values = tensor(of_shared, name).values;
  }
  REQUIRE(copied.load(weights));
  shared.eval();
  copied.eval();
  const at::NoGradGuard no_grad;
  CHECK(at::equal(shared.forward(some_images()), copied.forward(some_images())));
}

TEST_CASE("shared weights: in an ensemble each member has its own") {
  const auto n = decoded(space(true), blocks(3));
  const auto mixed = mixture_of(std::vector{n, n}, mixed_answers::probabilities);
  for (const auto& l : mixed.layers)
    if (!l.shares.empty())
      CHECK(l.shares.substr(0, 3) == l.name.substr(0, 3));
  CHECK(network_module(mixed, key, at::kCPU).parameters().size()
        >= 2 * network_module(n, key, at::kCPU).parameters().size());
  CHECK(network_module(mixed, key, at::kCPU).forward(some_images()).sizes()
        == std::vector<std::int64_t>{4, 2});
}

TEST_CASE("shared weights: gradients of all repetitions meet in one tensor") {
  const auto n = decoded(space(true, "none"), blocks(3));
  network_module net(n, key, at::kCPU);
  net.forward(some_images()).sum().backward();
  // The output layer has two tensors, the convolutions a (twice) and b two each.
  CHECK(net.parameters().size() == 8);
  for (const auto& p : net.parameters()) {
    REQUIRE(p.grad().defined());
    CHECK(p.grad().abs().sum().item<double>() > 0);
  }
}

TEST_CASE("shared weights: initial values without LibTorch are those with it") {
  const auto n = decoded(space(true), blocks(3));
  const auto with = network_module(n, key, at::kCPU).weights();
  const auto without = drawn(n);
  REQUIRE(with.size() == without.size());
  for (const auto& w : with)
    CHECK(tensor(without, w.name).values == w.values);
}

TEST_CASE("shared weights: a trainer trains them, the same each time") {
  training_bench bench(halves_csv(80));
  bench.setup.data.shape = {{1, 6, 6}};
  bench.setup.space = space(true);
  bench.setup.training.learning_rate = 0.01;
  unheard_progress nobody;
  const auto once = bench.trainer()->evaluate(a_job(blocks(3)), nobody).evaluation;
  INFO(once.reason);
  REQUIRE(once.outcome == outcome::succeeded);
  CHECK(metric_of(once.metrics, "validation.accuracy") > 0.9);
  const auto twice = bench.trainer()->evaluate(a_job(blocks(3)), nobody).evaluation;
  CHECK(once.weights_hash == twice.weights_hash);
  CHECK(once.parameters == decoded(space(true), blocks(2)).cost().parameters);
}

TEST_CASE("shared weights: a child of more repetitions takes them over") {
  const auto s = space(true);
  const auto parent = decoded(s, blocks(2)), child = decoded(s, blocks(4));
  const auto theirs = drawn(parent);
  const auto plan = plan_inheritance(child, parent, theirs, key.stream("inheritance"));
  auto fresh = initial_weights(child, [](std::string_view layer) {
    return training_key{.seed = 9, .id = 9}.stream(layer);
  });
  const auto inherited = inherit_weights(plan, theirs, std::move(fresh));
  for (const auto* layer : {".1.a", ".1.b", ".2.a"}) {
    const auto name = named(child, layer) + ".weight";
    CHECK(tensor(inherited, name).values == tensor(theirs, name).values);
  }
}

TEST_CASE("shared weights: nothing that is not repeated shares any") {
  const auto parsed = parse_search_space(R"(
image = true
[composites.block]
share = true
layers = [{op = "conv", filters = 4}]
[operators.block]
)",
                                         "shared.toml");
  REQUIRE_FALSE(parsed);
  CHECK(
      parsed.error().message
      == "shared.toml:4: composites.block.share is true, and nothing is repeated; write "
         "how often, as repeat = 3, or a parameter");
}

TEST_CASE("shared weights: repetitions within repetitions share those of the first") {
  const auto parsed = parse_search_space(R"(
image = true
[composites.inner]
repeat = 2
share = true
layers = [{op = "conv", name = "c", filters = "=channels"}]
[composites.outer]
repeat = 3
share = true
layers = [{op = "inner", name = "i"}, {op = "activation", name = "f", function = "relu"}]
[operators.outer]
)",
                                         "shared.toml");
  INFO((parsed ? "" : parsed.error().message));
  REQUIRE(parsed);
  const auto n = decoded(*parsed, chain_genome({{{}, "outer", {}}}));
  std::size_t owners = 0;
  for (const auto& l : n.layers)
    if (l.op == "conv") {
      owners += l.shares.empty() ? 1 : 0;
      if (!l.shares.empty())
        CHECK(l.shares == named(n, ".1.i.1.c"));
    }
  CHECK(owners == 1);
  CHECK(network_module(n, key, at::kCPU).parameters().size() == 4);
  const auto again = parse_search_space(to_toml(*parsed), "again.toml");
  INFO(to_toml(*parsed));
  REQUIRE(again);
  CHECK(decoded(*again, chain_genome({{{}, "outer", {}}})) == n);
}
