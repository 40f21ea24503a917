#include "engine/program/kernels/kernel.hpp"
#include "engine/run/records/test_details.hpp"
#include "engine/training/baselines/boosted_trees.hpp"
#include "engine/training/baselines/booster.hpp"
#include "engine/training/baselines/linear_model.hpp"
#include "engine/training/final/composing.hpp"
#include "engine/training/loop/assessment.hpp"
#include "engine/training/network/loss.hpp"
#include "genome/base/random.hpp"
#include "tests/engine/training/on_cpu.hpp"
#include "tests/engine/training/training_data.hpp"

#include <ATen/ATen.h>
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

using namespace clade;

namespace {

/// Two columns of numbers have the targets sum = 100 + 30 a - 20 b and step, which is .001
/// where a is above 0; and the labels whether a and whether b is above 0.
std::string quarters_csv(std::size_t examples) {
  std::string text = "a,b,sum,step,right,upper\n";
  for (std::size_t i = 0; i < examples; ++i) {
    const double a = std::sin(1.7 * static_cast<double>(i)),
                 b = std::cos(2.3 * static_cast<double>(i));
    text += std::to_string(a) + "," + std::to_string(b) + ","
            + std::to_string(100 + 30 * a - 20 * b) + "," + (a > 0 ? ".001" : "0") + ","
            + (a > 0 ? "1" : "0") + "," + (b > 0 ? "yes" : "no") + "\n";
  }
  return text;
}

struct several_bench : training_bench {
  explicit several_bench(const learning_task& task) : training_bench(quarters_csv(240)) {
    const std::vector<std::string> numbers{"sum", "step"}, labels{"right", "upper"};
    auto& data = setup.data;
    data.task = task;
    data.targets = task.has_labels() ? labels : numbers;
    data.ignore = task.has_labels() ? numbers : labels;
    setup.goal = {.metric = "validation.loss", .maximize = false};
  }
};

at::Tensor said_by(const fitted_trees& f, const device_data& data) {
  const problem p{.input = {{data.features.size(1)}}, .outputs = 2, .apart = true};
  network_module net(tree_network(p, f.sizes), {}, at::kCPU);
  REQUIRE(net.load(f.weights));
  net.eval();
  return net.forward(data.features.rows(data.test));
}

} // namespace

TEST_CASE("several outputs: what is summed up on the device is what is measured of all") {
  for (const auto& task : {regression, multilabel}) {
    const several_bench bench(task);
    const auto data = on_cpu(load_data(bench.setup.data, 1).value());
    CHECK(data.targets.sizes() == at::IntArrayRef({240, 2}));
    const auto weight = at::tensor({0.5F, -0.2F, 0.1F, 0.4F}).view({2, 2});
    const model says = [&](const at::Tensor& x) { return x.mm(weight) + 0.1; };
    const auto summed = assess(says, data, data.test, "test.");
    const auto details = details_of(says, data);
    for (const auto& m : summed) {
      const double measured = metric_of(details.metrics, m.name);
      CHECK(m.value == Approx(measured).epsilon(1e-5));
    }
    CHECK(summed.size() == task.metrics.size());
    for (const auto& name : data.classes)
      for (const auto metric : metrics_of_each(task))
        CHECK(std::isfinite(
            metric_of(details.metrics, "test." + std::string(metric) + "." + name)));
    CHECK(details.pairs.empty());
    CHECK(details.confusion.empty());
  }
}

TEST_CASE("several outputs: a network learns them all") {
  for (const auto& task : {regression, multilabel}) {
    several_bench bench(task);
    bench.setup.training.epochs = 40;
    const auto trainer = bench.trainer();
    auto j = a_job(a_dense_network());
    j.budget.epochs = 40;
    unheard_progress nobody;
    const auto done = trainer->evaluate(j, nobody).evaluation;
    INFO(done.reason);
    REQUIRE(done.outcome == outcome::succeeded);
    if (task.has_labels())
      CHECK(metric_of(done.metrics, "validation.f1_micro") > 0.9);
    else
      CHECK(metric_of(done.metrics, "validation.r2") > 0.7);
  }
}

TEST_CASE("several outputs: the linear model and trees tell each apart") {
  for (const auto& task : {regression, multilabel}) {
    const several_bench bench(task);
    const auto data = on_cpu(load_data(bench.setup.data, 1).value());
    const auto linear =
        fit_linear_model(data, 2, std::chrono::steady_clock::time_point::max(), {});
    REQUIRE(linear);
    const auto trees = fit_boosted_trees(data, {.seed = 1});
    REQUIRE(trees);
    const auto targets = data.targets.index_select(0, data.test);
    const auto by_line = linear->predict(data.features.rows(data.test));
    const auto by_trees = said_by(trees->whole, data);
    REQUIRE(by_trees.sizes() == targets.sizes());
    if (task.has_labels()) {
      CHECK(by_line.ge(0).eq(targets.gt(0.5)).to(at::kFloat).mean().item<float>() > 0.9);
      CHECK(by_trees.ge(0).eq(targets.gt(0.5)).to(at::kFloat).mean().item<float>()
            > 0.97);
      continue;
    }
    // The sum is a plane, the step is none.
    const auto errors = [&](const at::Tensor& said) {
      return (said - targets).square().mean(0);
    };
    CHECK(errors(by_line)[0].item<float>() < 1e-4);
    CHECK(errors(by_line)[1].item<float>() > 0.1);
    CHECK(errors(by_trees)[0].item<float>() < 0.1);
    CHECK(errors(by_trees)[1].item<float>() < 0.05);
  }
}

TEST_CASE("several outputs: a final model is put together and examined") {
  for (const auto& task : {regression, multilabel}) {
    several_bench bench(task);
    const auto trainer = bench.trainer();
    auto j = a_job(a_dense_network(), 7);
    j.keep_weights_above = -std::numeric_limits<double>::infinity();
    unheard_progress nobody;
    auto done = trainer->evaluate(j, nobody);
    REQUIRE(done.evaluation.outcome == outcome::succeeded);
    const trained_member member{
        .id = 7, .genome = j.genome, .bag = 7, .weights = **done.weights.load()};
    const auto made =
        trainer->compose(std::vector{member}, 1, {}, composition_purpose::final_model);
    INFO((made ? "" : made.error().message));
    REQUIRE(made);
    const auto names = [&](const std::string& subject) {
      return std::ranges::find(made->compared, subject, &examination::subject)
             != made->compared.end();
    };
    CHECK(names("linear model"));
    CHECK(names("boosted trees"));
    const double loss = metric_of(made->tested.metrics, "validation.loss");
    for (const auto& one : made->compared)
      CHECK(loss <= metric_of(one.metrics, "validation.loss") * 1.05 + 1e-3);
  }
}

TEST_CASE("several outputs: the loss of labels is that of the definition") {
  const auto odds = at::tensor({2.0F, -1.0F, 0.5F, 0.0F}).view({2, 2});
  const auto truth = at::tensor({1.0F, 0.0F, 0.0F, 1.0F}).view({2, 2});
  const auto p = odds.sigmoid();
  const auto expected = -(truth * p.log() + (1 - truth) * (1 - p).log());
  const auto loss = [&](const loss_options& o) {
    return loss_of(loss_kind::binary_cross_entropy, odds, truth, o).item<float>();
  };
  CHECK(loss({}) == Approx(expected.mean().item<float>()));
  CHECK(loss({.reduction = at::Reduction::Sum}) == Approx(expected.sum().item<float>()));
  const auto smooth = truth * 0.8 + 0.1;
  const auto smoothed = -(smooth * p.log() + (1 - smooth) * (1 - p).log());
  CHECK(loss({.label_smoothing = 0.2}) == Approx(smoothed.mean().item<float>()));
}

TEST_CASE("several outputs: neither a label nor its absence is ruled out") {
  const auto odds = at::tensor({-90.0F, -3.0F, 0.0F, 2.0F, 90.0F}).view({1, 5});
  const auto p = bounded_odds(odds, at::full({1}, 0.01)).sigmoid().flatten();
  CHECK(p[0].item<float>() == Approx(0.01));
  CHECK(p[2].item<float>() == Approx(0.5));
  CHECK(p[4].item<float>() == Approx(0.99));
  CHECK(p.diff().gt(0).all().item<bool>());
}

TEST_CASE("booster: thresholds lie in the middle between two values") {
  const std::vector<float> features{0, 1, 4, 6, 9, 12}, targets{-1, -1, -1, 1, 1, 1};
  const boosting_params p{
      .depth = 1, .example_share = 1, .feature_share = 1, .rounds = 3};
  const auto f = boost(p, {features, targets}, {features, targets});
  REQUIRE(f);
  for (const float threshold : f->thresholds)
    CHECK(threshold == 5);
}

namespace {

/// The target of 600 rows is normal with the mean 10 + 5 a, and the deviation 4 where b is
/// above 0, else 1; what is above it by 1.2816 deviations is above nine of ten.
std::string spread_csv() {
  std::string text = "a,b,y\n";
  auto random = derive(1, purpose::synthetic, 0, 0);
  for (int i = 0; i < 600; ++i) {
    const double a = 2 * random.uniform() - 1;
    const double b = 2 * random.uniform() - 1;
    text += std::to_string(a) + "," + std::to_string(b) + ","
            + std::to_string(10 + 5 * a + (b > 0 ? 4 : 1) * random.normal()) + "\n";
  }
  return text;
}

struct quantile_bench : training_bench {
  quantile_bench() : training_bench(spread_csv()) {
    setup.data.task = quantiles;
    setup.data.target = "y";
    setup.goal = {.metric = "validation.pinball", .maximize = false};
  }
};

/// The quantiles where values are spread wide (b is above 0), and where they are not.
at::Tensor answers(const model& says, const device_data& data) {
  const auto x = at::tensor({0.0F, 0.9F, 0.0F, -0.9F}).view({2, 2});
  const auto& scale = data.target_scales.front();
  return as_predicted(data, says(x)) * scale.deviation + scale.mean;
}

} // namespace

TEST_CASE("quantiles: what is summed up on the device is what is measured of all") {
  const quantile_bench bench;
  const auto data = on_cpu(load_data(bench.setup.data, 1).value());
  CHECK(data.targets.sizes() == at::IntArrayRef({600, 3}));
  CHECK(data.quantiles.equal(at::tensor({0.1F, 0.5F, 0.9F})));
  // They are in no order, and are judged as if they were.
  const auto weight = at::tensor({0.5F, -0.2F, 0.1F, 0.4F, 1.0F, -0.3F}).view({2, 3});
  const model says = [&](const at::Tensor& x) { return x.mm(weight) + 0.1; };
  const auto summed = assess(says, data, data.test, "test.");
  const auto details = details_of(says, data);
  REQUIRE(summed.size() == 2);
  for (const auto& m : summed)
    CHECK(m.value == Approx(metric_of(details.metrics, m.name)).epsilon(1e-5));
  for (const auto* name : {"test.below.q0.1", "test.below.q0.9", "test.pinball.q0.5"})
    CHECK(std::isfinite(metric_of(details.metrics, name)));
  CHECK(metric_of(details.metrics, "test.below.q0.1")
        <= metric_of(details.metrics, "test.below.q0.9"));
}

TEST_CASE("quantiles: the loss is that of the definition") {
  const auto said = at::tensor({1.0F, 2.0F, 0.0F, 5.0F}).view({2, 2});
  const auto truth = at::tensor({2.0F, 2.0F, -1.0F, -1.0F}).view({2, 2});
  const loss_options of{.quantiles = at::tensor({0.25F, 0.9F})};
  // .25 of 1, nothing, .75 of 1, .1 of 6
  CHECK(loss_of(loss_kind::pinball, said, truth, of).item<float>() == Approx(1.6 / 4));
  auto weighed = of;
  weighed.weights = at::tensor({2.0F, 0.0F});
  CHECK(loss_of(loss_kind::pinball, said, truth, weighed).item<float>()
        == Approx(0.25 / 2));
}

TEST_CASE("quantiles: the linear model and trees tell how far values are spread") {
  quantile_bench bench;
  const auto data = on_cpu(load_data(bench.setup.data, 1).value());
  const auto linear =
      fit_linear_model(data, 3, std::chrono::steady_clock::time_point::max(), {});
  REQUIRE(linear);
  const auto trees = fit_boosted_trees(data, {.seed = 1});
  REQUIRE(trees);
  const problem p{.input = {{2}}, .outputs = 3, .apart = true};
  network_module forest(tree_network(p, trees->whole.sizes), {}, at::kCPU);
  REQUIRE(forest.load(trees->whole.weights));
  forest.eval();
  const double deviation = 1 / std::sqrt(3.0); // The features have it.
  for (const bool by_trees : {false, true}) {
    INFO((by_trees ? "trees" : "linear model"));
    const auto said = answers(
        [&](const at::Tensor& x) {
          return by_trees ? forest.forward(x / deviation)
                          : linear->predict(x / deviation);
        },
        data);
    const auto wide = said[0][2].item<float>() - said[0][0].item<float>();
    const auto narrow = said[1][2].item<float>() - said[1][0].item<float>();
    CHECK(wide > 6);     // 10.3
    CHECK(narrow < 5.5); // 2.6
    CHECK(said[0][1].item<float>() == Approx(10).margin(2.5));
  }
  const auto of_all = metric_of(linear->tested.metrics, "test.pinball");
  const auto of_trees =
      metric_of(assess([&](const at::Tensor& x) { return forest.forward(x); }, data,
                       data.test, "test."),
                "test.pinball");
  CHECK(of_trees < of_all * 1.05);
}

TEST_CASE("quantiles: a final model is put together and examined") {
  quantile_bench bench;
  bench.setup.training.epochs = 30;
  const auto trainer = bench.trainer();
  auto j = a_job(a_dense_network(), 7);
  j.budget.epochs = 30;
  j.keep_weights_above = -std::numeric_limits<double>::infinity();
  unheard_progress nobody;
  auto done = trainer->evaluate(j, nobody);
  INFO(done.evaluation.reason);
  REQUIRE(done.evaluation.outcome == outcome::succeeded);
  const trained_member member{
      .id = 7, .genome = j.genome, .bag = 7, .weights = **done.weights.load()};
  const auto made =
      trainer->compose(std::vector{member}, 1, {}, composition_purpose::final_model);
  INFO((made ? "" : made.error().message));
  REQUIRE(made);
  CHECK(std::ranges::find(made->compared, "boosted trees", &examination::subject)
        != made->compared.end());
  const double loss = metric_of(made->tested.metrics, "validation.pinball");
  for (const auto& one : made->compared)
    CHECK(loss <= metric_of(one.metrics, "validation.pinball") * 1.05);
}
