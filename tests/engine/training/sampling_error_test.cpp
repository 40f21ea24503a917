#include "engine/training/metrics/metrics.hpp"
#include "engine/training/metrics/sampling_error.hpp"
#include "genome/base/random.hpp"

#include <catch2/catch.hpp>
#include <rapidcheck.h>

#include <cmath>
#include <numeric>
#include <vector>

using namespace clade;

namespace {

const std::vector<std::string> names{"a", "b", "c"};

/// Scores that are right more often than not.
struct said_of_classes {
  std::vector<std::int64_t> labels;
  std::vector<float> scores;

  explicit said_of_classes(std::size_t examples, std::uint64_t seed = 1) {
    auto random = derive(seed, purpose::synthetic, 0, 0);
    for (std::size_t i = 0; i < examples; ++i) {
      labels.push_back(static_cast<std::int64_t>(i % names.size()));
      for (std::size_t c = 0; c < names.size(); ++c)
        scores.push_back(
            static_cast<float>(random.normal() + (c == i % names.size() ? 1.5 : 0)));
    }
  }

  [[nodiscard]] class_predictions predictions() const {
    return {names.size(), labels, scores, names};
  }
};

struct said_of_values {
  std::vector<double> actual, predicted;

  explicit said_of_values(std::size_t examples, std::uint64_t seed = 1) {
    auto random = derive(seed, purpose::synthetic, 0, 0);
    for (std::size_t i = 0; i < examples; ++i) {
      actual.push_back(10 + random.normal());
      predicted.push_back(actual.back() + 0.5 * random.normal());
    }
  }

  [[nodiscard]] value_predictions predictions() const { return {actual, predicted, 2}; }
};

/// Whether the interval of each metric of the task holds the metric of all examples.
template<class Predictions>
void check_all_metrics(const learning_task& task, const Predictions& p) {
  auto all = all_part_metrics(task);
  if (task.has_classes())
    all.push_back({"f1.b", true});
  for (const auto& m : all) {
    INFO(m.name);
    if (m.name == "top_3" || m.name == "top_5") {
      CHECK_FALSE(bootstrap_interval(task, m.name, p, 1)); // It has three classes.
      continue;
    }
    const auto found = bootstrap_interval(task, m.name, p, 1);
    REQUIRE(found);
    CHECK(found->metric == m.name);
    CHECK(found->resamples == 1000);
    const double value = measure(task, m.name, p);
    CHECK(found->low < value);
    CHECK(value < found->high);
    CHECK(found == bootstrap_interval(task, m.name, p, 1));
    CHECK(found != bootstrap_interval(task, m.name, p, 2));
  }
  CHECK_FALSE(bootstrap_interval(task, "no metric", p, 1));
}

} // namespace

TEST_CASE("bootstrap: there is an interval of every metric, and the seed decides it") {
  check_all_metrics(classification, said_of_classes(300).predictions());
  check_all_metrics(regression, said_of_values(300).predictions());
}

TEST_CASE("bootstrap: the interval of a share is near the binomial distribution's") {
  // 800 of 1000 are right: 0.8 -+ 1.96 sqrt(0.8 * 0.2 / 1000).
  std::vector<std::int64_t> labels(1000, 0);
  std::vector<float> scores;
  for (int i = 0; i < 1000; ++i)
    scores.insert(scores.end(), {i % 5 == 0 ? 0.0F : 1.0F, 0.5F});
  const auto found = bootstrap_interval(classification, "accuracy",
                                        class_predictions{2, labels, scores}, 7);
  REQUIRE(found);
  CHECK(found->low == Approx(0.7752).margin(0.004));
  CHECK(found->high == Approx(0.8248).margin(0.004));
}

TEST_CASE("bootstrap: nineteen of twenty intervals hold what is true of all examples") {
  constexpr int trials = 200;
  int held = 0;
  for (std::uint64_t seed = 0; seed < trials; ++seed) {
    const said_of_values said(120, seed);
    const auto found = bootstrap_interval(regression, "rmse", said.predictions(), 1);
    REQUIRE(found);
    held += found->low <= 0.5 && 0.5 <= found->high ? 1 : 0;
  }
  CHECK(held >= 0.9 * trials);
  CHECK(held <= 0.99 * trials);
}

TEST_CASE(
    "bootstrap: where all resamples agree, or there is one example, it says nothing") {
  const std::vector<double> actual{1, 2, 3};
  CHECK_FALSE(
      bootstrap_interval(regression, "rmse", value_predictions{actual, actual}, 1));
  CHECK_FALSE(bootstrap_interval(regression, "rmse", value_predictions{{}, {}}, 1));
  const said_of_values one(1);
  CHECK_FALSE(bootstrap_interval(regression, "rmse", one.predictions(), 1));
}

TEST_CASE("bootstrap: very many numbers are resampled less often") {
  constexpr std::size_t classes = 2000, examples = 500;
  std::vector<std::int64_t> labels(examples, 0);
  std::vector<float> scores(classes * examples, 0);
  for (std::size_t i = 0; i < examples; i += 2)
    scores[i * classes + 1] = 1;
  const auto found = bootstrap_interval(classification, "accuracy",
                                        class_predictions{classes, labels, scores}, 1);
  REQUIRE(found);
  CHECK(found->resamples == 200);
}

TEST_CASE("bootstrap: an interval lies within what single examples say") {
  REQUIRE(rc::check("of a mean", [] {
    const auto errors = *rc::gen::nonEmpty(
        rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 100)));
    const std::vector<double> actual(errors.size(), 0.0);
    const std::vector<double> predicted(errors.begin(), errors.end());
    const auto seed = *rc::gen::arbitrary<std::uint64_t>();
    const auto found =
        bootstrap_interval(regression, "mae", value_predictions{actual, predicted}, seed);
    if (!found)
      return;
    RC_ASSERT(found->low < found->high);
    RC_ASSERT(found->low >= *std::ranges::min_element(predicted));
    RC_ASSERT(found->high <= *std::ranges::max_element(predicted));
  }));
}

TEST_CASE("sampling error: two models differ by what they do not say alike") {
  const said_of_classes one(400, 1), other(400, 2);
  const auto a = one.predictions(), b = other.predictions();
  for (const char* metric : {"accuracy", "loss", "balanced_accuracy", "auc"}) {
    CAPTURE(metric);
    const double error = difference_error(classification, metric, a, b);
    // The deviation of the difference of two samples that have nothing to do with each
    // other; the two are asked of the same examples, but err on others.
    const double independent = std::hypot(sampling_error(classification, metric, a),
                                          sampling_error(classification, metric, b));
    CHECK(error > 0.5 * independent);
    CHECK(error < 1.5 * independent);
    CHECK(difference_error(classification, metric, a, a) < 0.1 * error);
    CHECK(difference_error(classification, metric, a, b) == error);
  }
  // One example more might be right for one of them alone.
  CHECK(difference_error(classification, "accuracy", a, a) == Approx(1 / 400.0));
}

TEST_CASE("sampling error: of numbers too, and two examples are the fewest") {
  std::vector<double> actual, near, far;
  auto random = derive(3, purpose::synthetic, 0, 0);
  for (int i = 0; i < 200; ++i) {
    actual.push_back(random.normal());
    near.push_back(actual.back() + 0.1 * random.normal());
    far.push_back(actual.back() + random.normal());
  }
  const value_predictions a{actual, near, 1}, b{actual, far, 1};
  const double error = difference_error(regression, "rmse", a, b);
  CHECK(error > 0);
  CHECK(measure(regression, "rmse", b) - measure(regression, "rmse", a) > 5 * error);
  CHECK(difference_error(regression, "rmse", a, a) == 0);
  const value_predictions single{std::span(actual).first(1), std::span(near).first(1), 1};
  CHECK(std::isinf(difference_error(regression, "rmse", single, single)));
}
