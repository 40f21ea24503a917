#include "engine/run/records/test_details.hpp"
#include "engine/training/loop/assessment.hpp"
#include "genome/base/random.hpp"
#include "tests/engine/training/training_data.hpp"

#include <ATen/ATen.h>
#include <catch2/catch.hpp>

#include <array>
#include <cmath>

using namespace clade;

namespace {

evaluation evaluated(const training_bench& bench, std::uint32_t epochs = 10) {
  auto j = a_job(a_dense_network());
  j.budget.epochs = epochs;
  listener ear;
  auto e = bench.trainer()->evaluate(j, ear).evaluation;
  INFO(e.reason);
  REQUIRE(e.outcome == outcome::succeeded);
  return e;
}

examination tested(const training_bench& bench) {
  const auto x = bench.trainer()->examine(a_job(a_dense_network()), {});
  INFO((x ? "" : x.error().message));
  REQUIRE(x);
  REQUIRE(x->details);
  return *x;
}

/// One in ten is of the second class, which lies close to the first.
std::string rare_csv(std::size_t examples) {
  auto random = derive(5, purpose::synthetic, 0, 0);
  std::string csv;
  for (std::size_t i = 0; i < examples; ++i) {
    const bool rare = i % 10 == 0;
    csv += std::to_string(random.normal() + (rare ? 1.0 : 0.0)) + ","
           + std::to_string(random.normal()) + (rare ? ",yes\n" : ",no\n");
  }
  return csv;
}

} // namespace

TEST_CASE("assessment: what is asked for is recorded and changes nothing else") {
  training_bench bench(separable_csv(150));
  const auto usual = evaluated(bench);
  bench.setup.goal = {.metric = "validation.auc"};
  bench.setup.training.metrics = {"train.accuracy", "f1.1", "validation.matthews"};
  const auto more = evaluated(bench);
  CHECK(metric_of(more.metrics, "validation.auc") == 1);
  CHECK(metric_of(more.metrics, "validation.f1.1") == 1);
  CHECK(metric_of(more.metrics, "validation.matthews") == 1);
  CHECK(metric_of(more.metrics, "train.accuracy") == 1);
  CHECK(more.metrics.size() == usual.metrics.size() + 4);
  REQUIRE(more.curve.size() == usual.curve.size());
  for (std::size_t i = 0; i < more.curve.size(); ++i)
    for (const auto& m : usual.curve[i].metrics)
      CHECK(metric_of(more.curve[i].metrics, m.name) == m.value);
  const auto x = tested(bench);
  CHECK(metric_of(x.metrics, "test.auc") == 1);
}

TEST_CASE("assessment: a test counts which classes were taken for which") {
  const training_bench bench(separable_csv(150));
  const auto x = tested(bench);
  const auto& d = *x.details;
  CHECK(x.metrics.size() == 2);
  CHECK(d.train == 90);
  CHECK(d.validation == 30);
  CHECK(d.test == 30);
  CHECK(d.classes == std::vector<std::string>{"0", "1", "2"});
  CHECK(d.confusion == std::vector<std::uint64_t>{10, 0, 0, 0, 10, 0, 0, 0, 10});
  CHECK(metric_of(d.metrics, "test.accuracy") == 1);
  CHECK(metric_of(d.metrics, "test.auc") == 1);
  // The right one of three classes is always among the first three.
  CHECK_FALSE(find(d.metrics, "test.top_3"));
  // 31 of 32.
  CHECK(d.standard_error == Approx(std::sqrt(31.0 / 32 / 32 / 30)));
  CHECK(d.pairs.empty());
  CHECK(d.validation_errors.values.empty());
  // All are right, so that there is nothing to tell.
  CHECK(d.evidence == test_evidence{.by_line = true});
}

TEST_CASE("assessment: a test of a regression has predictions and errors") {
  training_bench bench(plane_csv(200));
  bench.setup.data.task = regression;
  bench.setup.goal = {.metric = "validation.rmse", .maximize = false};
  const auto x = tested(bench);
  const auto& d = *x.details;
  CHECK(d.classes.empty());
  REQUIRE(d.pairs.size() == d.test);
  double squares = 0;
  for (const auto& p : d.pairs)
    squares += (p.actual - p.predicted) * (p.actual - p.predicted);
  const double rmse = metric_of(x.metrics, "test.rmse");
  CHECK(std::sqrt(squares / static_cast<double>(d.test)) == Approx(rmse).epsilon(1e-4));
  CHECK(metric_of(d.metrics, "test.rmse") == Approx(rmse).epsilon(1e-4));
  CHECK(metric_of(d.metrics, "test.mae") <= rmse);
  CHECK(d.validation_errors.examples == d.validation);
  REQUIRE(d.evidence);
  REQUIRE(d.evidence->interval);
  CHECK(d.evidence->interval->metric == "test.rmse");
  CHECK(d.evidence->interval->low < rmse);
  CHECK(rmse < d.evidence->interval->high);
  CHECK(d.evidence->values.size() == test_evidence::most_wrong_examples);
  CHECK(d.standard_error > 0);
}

TEST_CASE("assessment: a test has an interval and its most wrong examples") {
  training_bench bench(noise_csv(150));
  const auto x = tested(bench);
  REQUIRE(x.details->evidence);
  const auto& e = *x.details->evidence;
  REQUIRE(e.interval);
  const double accuracy = metric_of(x.metrics, "test.accuracy");
  CHECK(e.interval->metric == "test.accuracy");
  CHECK(e.interval->low < accuracy);
  CHECK(accuracy < e.interval->high);
  CHECK(e.by_line);
  CHECK(e.classes.size() == test_evidence::most_wrong_examples);
  const auto data = load_data(bench.setup.data, bench.setup.seed).value();
  for (const auto& m : e.classes) {
    const auto found = std::ranges::find(data.test_places, m.place);
    REQUIRE(found != data.test_places.end());
    const auto example =
        data.test[static_cast<std::size_t>(found - data.test_places.begin())];
    CHECK(data.classes[static_cast<std::size_t>(data.labels[example])] == m.actual);
    CHECK(m.predicted != m.actual);
    CHECK(m.actual_probability < m.predicted_probability);
  }
  CHECK(std::ranges::is_sorted(e.classes, {}, &misclassified::actual_probability));
  CHECK(*tested(bench).details == *x.details);
  bench.setup.goal = {.metric = "validation.auc"};
  CHECK(tested(bench).details->evidence->interval->metric == "test.auc");
  const auto linear = bench.trainer()->baseline(1, {});
  REQUIRE(linear);
  CHECK_FALSE((*linear)->details->evidence);
}

TEST_CASE("assessment: a part has the metrics that the row of its task names") {
  constexpr std::array<std::string_view, 2> names{"mae", "loss"};
  auto task = regression;
  task.metrics = names;
  const device_data data{.features = at::tensor({0.0F, 1.0F, 2.0F, 3.0F}).view({4, 1}),
                         .targets = at::tensor({0.0F, 1.0F, 2.0F, 5.0F}).view({4, 1}),
                         .task = task,
                         .target_scales = {{.deviation = 3}}};
  const auto metrics = assess([](const at::Tensor& x) { return x; }, data,
                              at::arange(4, at::kLong), "validation.");
  REQUIRE(metrics.size() == 2);
  CHECK(metric_of(metrics, "validation.loss") == 1);
  CHECK(metric_of(metrics, "validation.mae") == 1.5);
}

TEST_CASE("assessment: class weights find more of a rare class") {
  training_bench bench(rare_csv(600));
  bench.setup.training.metrics = {"balanced_accuracy"};
  const auto plain = evaluated(bench, 15);
  bench.setup.training.class_weights.balanced = true;
  const auto weighed = evaluated(bench, 15);
  CHECK(weighed.weights_hash != plain.weights_hash);
  CHECK(metric_of(plain.metrics, "validation.balanced_accuracy") < 0.6);
  CHECK(metric_of(weighed.metrics, "validation.balanced_accuracy") > 0.65);
  // Each weighing 1 is training as usual.
  bench.setup.training.class_weights = {.by_class = {{"yes", 1}}};
  CHECK(metric_of(evaluated(bench, 15).metrics, "validation.loss")
        == Approx(metric_of(plain.metrics, "validation.loss")).epsilon(1e-4));
  bench.setup.training.class_weights = {.by_class = {{"Yes", 2}}};
  CHECK(
      bench.trainer()->warm_up().error().message
      == "training.class_weights names the class \"Yes\", which the data does not have; "
         "it has \"no\", \"yes\"");
}

TEST_CASE("assessment: the linear model is weighed and tested alike") {
  training_bench bench(rare_csv(600));
  bench.setup.goal = {.metric = "validation.balanced_accuracy"};
  const auto fitted = [&] {
    const auto linear = bench.trainer()->baseline(1, {});
    REQUIRE(linear);
    REQUIRE(*linear);
    return **linear;
  };
  const auto plain = fitted();
  bench.setup.training.class_weights.balanced = true;
  const auto weighed = fitted();
  CHECK(metric_of(weighed.metrics, "test.balanced_accuracy")
        > metric_of(plain.metrics, "test.balanced_accuracy"));
  REQUIRE(weighed.details);
  CHECK(weighed.details->classes == std::vector<std::string>{"no", "yes"});
}
