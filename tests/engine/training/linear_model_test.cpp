#include "engine/training/baselines/linear_model.hpp"
#include "tests/engine/training/on_cpu.hpp"
#include "tests/engine/training/training_data.hpp"

#include <ATen/ATen.h>
#include <catch2/catch.hpp>

using namespace clade;

namespace {

examination fitted(const training_bench& bench) {
  const auto linear = bench.trainer()->baseline(1, {});
  INFO((linear ? "" : linear.error().message));
  REQUIRE(linear);
  REQUIRE(*linear);
  return **linear;
}

} // namespace

TEST_CASE("linear model: it tells linear classes apart") {
  const training_bench bench(separable_csv(150));
  const auto x = fitted(bench);
  CHECK(x.subject == "linear model");
  CHECK(x.id == 0);
  CHECK(x.parameters == 2 * 3 + 3);
  CHECK(metric_of(x.metrics, "test.accuracy") == 1.0);
  CHECK(metric_of(x.metrics, "test.loss") < 0.05);
  CHECK(metric_of(x.metrics, "validation.accuracy") == 1.0);
  CHECK((fitted(bench).metrics == x.metrics));
}

TEST_CASE("linear model: it fits a plane as exactly as floats can") {
  training_bench bench(plane_csv(100));
  bench.setup.data.task = regression;
  bench.setup.goal = {.metric = "validation.rmse", .maximize = false};
  const auto x = fitted(bench);
  CHECK(x.parameters == 3);
  CHECK(metric_of(x.metrics, "test.r2") > 0.999999);
  CHECK(metric_of(x.metrics, "test.rmse") < 0.01);
}

TEST_CASE("linear model: columns that repeat each other do no harm") {
  std::string csv;
  for (int i = 0; i < 50; ++i) {
    const auto a = std::to_string(i % 7);
    csv += a + "," + a + "," + std::to_string(3 * (i % 7)) + "\n";
  }
  training_bench bench(csv);
  bench.setup.data.task = regression;
  bench.setup.goal = {.metric = "validation.rmse", .maximize = false};
  CHECK(metric_of(fitted(bench).metrics, "test.r2") > 0.99999);
}

TEST_CASE("linear model: noise is not learnt by heart") {
  const training_bench bench(noise_csv(100));
  // A coin's loss is 0.693; a fit without penalty is worse than that on what it has not
  // seen.
  CHECK(metric_of(fitted(bench).metrics, "validation.loss") < 0.72);
}

TEST_CASE("linear model: of folds it says the mean of what they say") {
  const bool numbers = GENERATE(false, true);
  training_bench bench(numbers ? plane_csv(60) : separable_csv(60));
  if (numbers)
    bench.setup.data.task = regression;
  const auto data = load_data(bench.setup.data, 1).value();
  const auto all = on_cpu(data);
  constexpr auto ever = std::chrono::steady_clock::time_point::max();
  const auto outputs = all.task.outputs(all.classes.size());
  const auto fitted = fit_linear_folds(all, outputs, 4, 7, ever);
  REQUIRE(fitted);
  REQUIRE(fitted->folds.size() == 4);
  const auto x = all.features.rows(all.test);
  at::Tensor sum = at::zeros({x.size(0), outputs});
  for (const auto& fold : fitted->folds)
    sum += fold.predict(x);
  CHECK(at::allclose(fitted->whole.predict(x), sum / 4, 1e-4, 1e-4));
  CHECK_FALSE(at::equal(fitted->folds[0].weight, fitted->folds[1].weight));
  const auto again = fit_linear_folds(all, outputs, 4, 7, ever);
  REQUIRE(again);
  CHECK(at::equal(again->whole.weight, fitted->whole.weight));
  const auto past = std::chrono::steady_clock::now() - std::chrono::seconds(1);
  CHECK_FALSE(fit_linear_folds(all, outputs, 4, 7, past));
}
