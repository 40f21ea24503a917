#include "engine/training/loop/zero_cost.hpp"
#include "engine/training/network/network_module.hpp"
#include "search_spaces/files/load_search_space.hpp"
#include "search_spaces/operators/variation.hpp"
#include "tests/engine/training/training_data.hpp"
#include "tests/support/genomes.hpp"

#include <ATen/ATen.h>
#include <catch2/catch.hpp>

#include <cmath>

using namespace clade;

namespace {

constexpr training_key key{.seed = 5, .id = 2};

network decoded(const genome& g, const problem& p) {
  auto n = decode({}, g, p);
  INFO((n ? "" : n.error().message));
  REQUIRE(n);
  return std::move(*n);
}

genome a_dense(const std::string& norm, const std::string& activation) {
  return test::a_chain(
      {{{},
        "dense",
        {{"activation", activation}, {"norm", norm}, {"units", std::int64_t{3}}}}});
}

at::Tensor random_examples(std::vector<std::int64_t> sizes) {
  auto random = derive(3, purpose::synthetic, 0, 0);
  auto x = at::empty(sizes);
  auto* values = x.data_ptr<float>();
  for (std::int64_t i = 0; i < x.numel(); ++i)
    values[i] = static_cast<float>(random.normal());
  return x;
}

batch some_numbers(std::int64_t count) {
  return {.features = random_examples({count, 2}),
          .targets = random_examples({count, 3}).narrow(1, 0, 1).contiguous()};
}

/// The tensors of two dimensions, in the order of layers.
std::vector<at::Tensor> matrices(const network& n) {
  const network_module net(n, key, at::kCPU);
  std::vector<at::Tensor> found;
  for (const auto& [name, tensor] : net.state())
    if (tensor.dim() == 2)
      found.push_back(tensor.detach().to(at::kDouble));
  return found;
}

double number(const at::Tensor& t) {
  return t.item<double>();
}

} // namespace

TEST_CASE("zero cost: of a linear map the scores are those of the formulas") {
  const auto n = decoded(test::a_chain({}), {{{2}}, 1});
  const auto w = matrices(n);
  REQUIRE(w.size() == 1);
  const auto b = some_numbers(8);
  const auto s = score_untrained(n, key, b, loss_kind::squared_error);
  REQUIRE(s.synflow);
  CHECK(*s.synflow == Approx(std::log(number(w[0].abs().sum()))));

  const auto x = b.features.to(at::kDouble), t = b.targets.to(at::kDouble);
  const auto missed = x.mm(w[0].t()) - t;
  const auto by_weight = missed.t().mm(x) * (2.0 / 8);
  const auto by_bias = missed.sum() * (2.0 / 8);
  REQUIRE(s.grad_norm);
  CHECK(*s.grad_norm
        == Approx(std::sqrt(number(by_weight.square().sum() + by_bias.square()))));

  // All gradients are the same row: one eigenvalue is 8, the others are 0.
  const double k = 1e-5;
  REQUIRE(s.jacob_cov);
  CHECK(*s.jacob_cov
        == Approx(-(std::log(8 + k) + 1 / (8 + k)) - 7 * (std::log(k) + 1 / k))
               .epsilon(1e-6));
}

TEST_CASE("zero cost: the flow through a chain is its product's, once for each layer") {
  const auto b = some_numbers(8);
  for (const auto* activation : {"none", "relu"}) {
    const auto n = decoded(a_dense("none", activation), {{{2}}, 1});
    const auto w = matrices(n);
    REQUIRE(w.size() == 2);
    const double flow = number(w[1].abs().mm(w[0].abs()).sum());
    const auto s = score_untrained(n, key, b, loss_kind::squared_error);
    REQUIRE(s.synflow);
    CHECK(*s.synflow == Approx(std::log(2 * flow)));
  }
}

TEST_CASE("zero cost: flow knows neither normalisation nor examples") {
  const auto plain = decoded(a_dense("none", "relu"), {{{2}}, 1});
  const auto s = score_untrained(plain, key, some_numbers(8), loss_kind::squared_error);
  for (const auto* norm : {"batch", "layer"}) {
    const auto n = decoded(a_dense(norm, "relu"), {{{2}}, 1});
    const auto with = score_untrained(n, key, some_numbers(6), loss_kind::squared_error);
    CHECK(with.synflow == s.synflow);
    CHECK(with.grad_norm != s.grad_norm);
  }
}

TEST_CASE("zero cost: the order of examples does not matter") {
  const auto n = decoded(a_dense("none", "tanh"), {{{2}}, 1});
  const auto b = some_numbers(16);
  const auto s = score_untrained(n, key, b, loss_kind::squared_error);
  const auto turned = score_untrained(
      n, key, {.features = b.features.flip(0), .targets = b.targets.flip(0)},
      loss_kind::squared_error);
  REQUIRE((s.grad_norm && s.jacob_cov));
  CHECK(*turned.grad_norm == Approx(*s.grad_norm));
  CHECK(*turned.jacob_cov == Approx(*s.jacob_cov).epsilon(1e-3));
}

TEST_CASE("zero cost: a network that tells examples apart has the better gradients") {
  const auto b =
      batch{.features = random_examples({8, 5}), .targets = random_examples({8, 1})};
  const auto straight = decoded(a_dense("none", "none"), {{{5}}, 1});
  const auto bent = decoded(a_dense("none", "tanh"), {{{5}}, 1});
  CHECK(*score_untrained(straight, key, b, loss_kind::squared_error).jacob_cov
        < *score_untrained(bent, key, b, loss_kind::squared_error).jacob_cov);
}

TEST_CASE("zero cost: scores are the same whenever they are asked for, and finite") {
  training_bench bench(halves_csv(60));
  bench.setup.data.shape = {{1, 6, 6}};
  const auto space =
      load_search_space(std::filesystem::path(CLADE_SEARCH_SPACES) / "image.toml");
  REQUIRE(space);
  bench.setup.space = *space;
  const auto scorer = make_zero_cost_scorer(bench.setup);
  INFO((scorer ? "" : scorer.error().message));
  REQUIRE(scorer);
  const auto another = make_zero_cost_scorer(bench.setup);
  REQUIRE(another);
  std::size_t with_all = 0;
  for (std::uint64_t i = 1; i <= 12; ++i) {
    auto random = derive(9, purpose::sample, 0, i);
    const auto g = sample(*space, {{{1, 6, 6}}, 2}, random);
    REQUIRE(g);
    const auto s = (*scorer)->score(g->child, i);
    CHECK((*another)->score(g->child, i) == s);
    CHECK((*scorer)->score(g->child, i) == s);
    for (const auto& one : {s.synflow, s.jacob_cov, s.grad_norm})
      CHECK((!one || std::isfinite(*one)));
    with_all += s.synflow && s.jacob_cov && s.grad_norm ? 1 : 0;
    CHECK((*scorer)->score(g->child, i + 1) != s); // Other initial weights.
  }
  CHECK(with_all >= 9);
}

TEST_CASE("zero cost: where nothing flows, the score is absent") {
  auto n = decoded(a_dense("none", "relu"), {{{2}}, 1});
  const auto b = batch{.features = at::zeros({4, 2}), .targets = at::zeros({4, 1})};
  const auto s = score_untrained(n, key, b, loss_kind::squared_error);
  CHECK(s.synflow);         // Which does not look at the examples.
  CHECK_FALSE(s.jacob_cov); // A gradient of no direction has no correlation.
  CHECK(s.grad_norm == 0.0);
}

TEST_CASE("zero cost: a network that is too dear is not measured") {
  training_bench bench(halves_csv(60));
  bench.setup.data.shape = {{1, 6, 6}};
  const auto scorer = make_zero_cost_scorer(bench.setup);
  REQUIRE(scorer);
  const auto dense = [](std::int64_t units) {
    return test::a_chain(
        {{{}, "dense", {{"units", units}}}, {{}, "dense", {{"units", units}}}});
  };
  CHECK((*scorer)->score(dense(64), 1).grad_norm);
  CHECK((*scorer)->score(dense(16'384), 1) == zero_cost_scores{});
}

TEST_CASE("zero cost: without data there is a sentence") {
  training_bench bench(halves_csv(60));
  bench.setup.data.file = "/nowhere/data.csv";
  const auto scorer = make_zero_cost_scorer(bench.setup);
  REQUIRE_FALSE(scorer);
  CHECK(scorer.error().message.find("/nowhere/data.csv") != std::string::npos);
}
