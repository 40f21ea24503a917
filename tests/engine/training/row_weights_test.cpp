#include "engine/training/baselines/boosted_trees.hpp"
#include "engine/training/baselines/linear_model.hpp"
#include "engine/training/network/device_data.hpp"
#include "engine/training/network/loss.hpp"
#include "engine/training/parallel/common/shares.hpp"
#include "tests/engine/training/on_cpu.hpp"
#include "tests/engine/training/training_data.hpp"

#include <ATen/ATen.h>
#include <catch2/catch.hpp>

#include <cmath>

using namespace clade;

namespace {

/// y is x, but of every fourth row, whose weight is 0, something else.
std::string misleading_csv() {
  std::string text = "x,y,weight\n";
  for (int i = 0; i < 200; ++i) {
    const double x = std::sin(1.3 * i);
    text += std::to_string(x) + "," + std::to_string(i % 4 == 3 ? -5 - 3 * x : x) + ","
            + (i % 4 == 3 ? "0" : "2") + "\n";
  }
  return text;
}

struct weighed_bench : training_bench {
  weighed_bench() : training_bench(misleading_csv()) {
    setup.data.target = "y";
    setup.data.weights = "weight";
    setup.data.task = regression;
    setup.goal = {.metric = "validation.loss", .maximize = false};
  }
};

at::Tensor random(at::IntArrayRef sizes) {
  return at::sin(at::arange(at::prod(at::tensor(sizes)).item<std::int64_t>(), at::kFloat)
                 * 1.7)
      .view(sizes);
}

/// The squared error of rows that count.
double error_of_rows(const at::Tensor& said, const device_data& data) {
  const auto targets = data.targets.index_select(0, data.test);
  const auto counts = data.weights.index_select(0, data.test).gt(0).unsqueeze(1);
  return (said - targets).square().masked_select(counts).mean().item<double>();
}

} // namespace

TEST_CASE("row weights: a loss counts a row of weight two as two rows") {
  const auto weights = at::tensor({2.0F, 1.0F, 0.0F});
  const auto twice = at::tensor({std::int64_t{0}, std::int64_t{0}, std::int64_t{1}});
  const auto check = [&](loss_kind kind, const at::Tensor& said,
                         const at::Tensor& targets, const at::Tensor& classes = {}) {
    const loss_options plain{.reduction = at::Reduction::Sum, .class_weights = classes};
    auto weighed = plain;
    weighed.weights = weights;
    const auto sum = loss_of(kind, said, targets, weighed).item<float>();
    CHECK(sum
          == Approx(loss_of(kind, said.index_select(0, twice),
                            targets.index_select(0, twice), plain)
                        .item<float>()));
    weighed.reduction = at::Reduction::Mean;
    weighed.weights = at::ones({3});
    auto mean = plain;
    mean.reduction = at::Reduction::Mean;
    CHECK(loss_of(kind, said, targets, weighed).item<float>()
          == Approx(loss_of(kind, said, targets, mean).item<float>()));
  };
  const auto labels = at::tensor({std::int64_t{1}, std::int64_t{0}, std::int64_t{1}});
  check(loss_kind::cross_entropy, random({3, 2}), labels);
  check(loss_kind::cross_entropy, random({3, 2}), labels, at::tensor({1.0F, 3.0F}));
  check(loss_kind::squared_error, random({3, 1}), random({3, 1}) * 2);
  check(loss_kind::squared_error, random({3, 2}), random({3, 2}) * 2);
  check(loss_kind::binary_cross_entropy, random({3, 2}),
        random({3, 2}).gt(0).to(at::kFloat));
}

TEST_CASE("row weights: the linear model and trees pass over rows of weight 0") {
  const weighed_bench bench;
  const auto data = on_cpu(load_data(bench.setup.data, 1).value());
  auto unweighed = data;
  unweighed.weights = at::Tensor();
  const auto never = std::chrono::steady_clock::time_point::max();
  const auto linear = [&](const device_data& d) {
    const auto fitted = fit_linear_model(d, 1, never, {});
    REQUIRE(fitted);
    return error_of_rows(fitted->predict(data.features.rows(data.test)), data);
  };
  CHECK(linear(data) < 1e-3);
  CHECK(linear(unweighed) > 0.05);
  const auto trees = [&](const device_data& d) {
    const auto fitted = fit_boosted_trees(d, {.seed = 1});
    REQUIRE(fitted);
    network_module net(tree_network({.input = {{1}}, .outputs = 1}, fitted->whole.sizes),
                       {}, at::kCPU);
    REQUIRE(net.load(fitted->whole.weights));
    net.eval();
    return error_of_rows(net.forward(data.features.rows(data.test)), data);
  };
  CHECK(trees(data) < trees(unweighed) / 2);
}

TEST_CASE("row weights: networks learn by them, whole batches and shares of them") {
  const weighed_bench bench;
  const auto data = on_cpu(load_data(bench.setup.data, 1).value());
  for (const double mixup : {0.0, 0.4}) {
    recipe r;
    r.batch_size = 16;
    r.mixup = mixup;
    batch_source batches(data, r, {.id = 1});
    batches.start(1);
    const auto b = batches.next();
    REQUIRE(b.weights.defined());
    CHECK(b.weights.size(0) == b.targets.size(0));
    CHECK(b.other_weights.defined() == (mixup > 0));
    const auto half = share_of_batch(b, 1, 2);
    CHECK(half.weights.size(0) == half.targets.size(0));
  }
  const auto trainer = bench.trainer();
  auto j = a_job(a_dense_network());
  j.budget.epochs = 30;
  unheard_progress nobody;
  const auto weighed = trainer->evaluate(j, nobody).evaluation;
  REQUIRE(weighed.outcome == outcome::succeeded);
  weighed_bench other;
  other.setup.data.weights.clear();
  other.setup.data.ignore = {"weight"};
  const auto plain = other.trainer()->evaluate(j, nobody).evaluation;
  CHECK(plain.weights_hash != weighed.weights_hash);
}
