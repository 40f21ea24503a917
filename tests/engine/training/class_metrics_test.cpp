#include "engine/training/metrics/metrics.hpp"
#include "engine/training/metrics/sampling_error.hpp"
#include "genome/base/random.hpp"

#include <catch2/catch.hpp>
#include <rapidcheck.h>

#include <cmath>

using namespace clade;

namespace {

// Four classes, of which nobody predicts the last; ties between scores; from
//
//   python3 - <<'END'
//   import numpy as np
//   from sklearn import metrics as m
//   labels = np.array([0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 0])
//   logits = np.array([[2, 1, 0, -1], [1, 3, 0, 0], [0, 2, 1, 0], [1, 0, 2, 1.5],
//       [0.25, 1, 0.5, 0], [0, 2, 0, 1], [0, 0, 3, 1],
//       [0.5, 0.375, 0.3125, 0.25], [2, 0, 1, 0], [1, 0.5, 0, 0], [0.5, 1, 2, 0],
//       [1, 1, 0, 0]])
//   p = np.exp(logits); p /= p.sum(1, keepdims=True); y = logits.argmax(1)
//   print(m.accuracy_score(labels, y), m.balanced_accuracy_score(labels, y))
//   print(m.f1_score(labels, y, average=None), m.f1_score(labels, y, average="macro"))
//   print(m.precision_score(labels, y, average=None, zero_division=0))
//   print(m.recall_score(labels, y, average=None), m.matthews_corrcoef(labels, y))
//   print(m.roc_auc_score(labels, p, multi_class="ovr"), m.log_loss(labels, p))
//   print(m.top_k_accuracy_score(labels, p, k=3))
//   END
struct four_classes {
  std::vector<std::int64_t> labels{0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 0};
  std::vector<float> scores{2, 1,    0, -1,   1,     3,      0,       0,     0, 2, 1, 0,
                            1, 0,    2, 1.5F, 0.25F, 1,      0.5F,    0,     0, 2, 0, 1,
                            0, 0,    3, 1,    0.5F,  0.375F, 0.3125F, 0.25F, 2, 0, 1, 0,
                            1, 0.5F, 0, 0,    0.5F,  1,      2,       0,     1, 1, 0, 0};
  std::vector<std::string> names{"ant", "bee", "cat", "dog"};
  class_predictions all{4, labels, scores, names};
};

/// Scores and labels of a random problem.
struct random_problem {
  std::size_t classes;
  std::vector<std::int64_t> labels;
  std::vector<float> scores;

  [[nodiscard]] class_predictions view() const { return {classes, labels, scores}; }
};

random_problem a_problem() {
  random_problem p;
  p.classes = *rc::gen::inRange<std::size_t>(2, 6);
  const auto examples = *rc::gen::inRange<std::size_t>(1, 40);
  for (std::size_t i = 0; i < examples; ++i) {
    p.labels.push_back(
        *rc::gen::inRange<std::int64_t>(0, static_cast<std::int64_t>(p.classes)));
    // Few values, so that there are ties.
    for (std::size_t c = 0; c < p.classes; ++c)
      p.scores.push_back(static_cast<float>(*rc::gen::inRange(-4, 5)));
  }
  return p;
}

} // namespace

TEST_CASE("class metrics: they are what scikit-learn computes") {
  const four_classes f;
  const auto c = confusion_of(f.all);
  CHECK(c.counts
        == std::vector<std::uint64_t>{3, 1, 0, 0, 1, 2, 0, 0, 0, 1, 2, 0, 1, 0, 1, 0});
  const auto named = [&](std::string_view name) {
    return measure(classification, name, f.all);
  };
  CHECK(named("accuracy") == Approx(0.5833333333333334).epsilon(1e-12));
  CHECK(named("balanced_accuracy") == Approx(0.5208333333333333).epsilon(1e-12));
  CHECK(named("f1.ant") == Approx(0.6666666666666666).epsilon(1e-12));
  CHECK(named("f1.bee") == Approx(0.5714285714285714).epsilon(1e-12));
  CHECK(named("f1.dog") == 0);
  CHECK(named("f1_macro") == Approx(0.47619047619047616).epsilon(1e-12));
  CHECK(precision(c, 0) == Approx(0.6).epsilon(1e-12));
  CHECK(precision(c, 3) == 0);
  CHECK(recall(c, 0) == Approx(0.75).epsilon(1e-12));
  CHECK(named("matthews") == Approx(0.4307760960892128).epsilon(1e-12));
  CHECK(named("auc") == Approx(0.8992476851851852).epsilon(1e-12));
  CHECK(named("loss") == Approx(0.8865415304898971).epsilon(1e-7));
  CHECK(named("top_3") == Approx(0.9166666666666666).epsilon(1e-12));
  CHECK(named("top_5") == 1);
  CHECK(std::isnan(named("f1.cow")));
  CHECK(std::isnan(named("rmse")));
}

TEST_CASE("class metrics: ties of the ROC curve count half") {
  // sklearn.metrics.roc_auc_score([0, 0, 1, 1, 1, 0], [0.1, 0.4, 0.35, 0.8, 0.4, 0.4])
  const std::vector<double> scores{0.1, 0.4, 0.35, 0.8, 0.4, 0.4};
  const std::vector<std::uint8_t> positive{0, 0, 1, 1, 1, 0};
  CHECK(area_under_curve(scores, positive) == Approx(0.6666666666666667).epsilon(1e-12));
  const std::vector<double> equal(6, 1.0);
  CHECK(area_under_curve(equal, positive) == 0.5);
  CHECK(area_under_curve(scores, std::vector<std::uint8_t>(6, 1)) == 0.5);
}

TEST_CASE("class metrics: one class alone, or one answer, has no correlation") {
  const std::vector<std::int64_t> labels{1, 1, 1};
  const std::vector<float> scores{0, 1, 1, 0, 0, 1};
  const class_predictions p{2, labels, scores};
  const auto c = confusion_of(p);
  CHECK(matthews(c) == 0);
  CHECK(auc(p) == 0.5);
  CHECK(balanced_accuracy(c) == Approx(2.0 / 3));
}

TEST_CASE("class metrics: auc keeps apart what probabilities round to 1") {
  // Both probabilities are 1 in single precision; the odds are not the same.
  const std::vector<std::int64_t> labels{0, 1};
  const std::vector<float> two{0, 40, 0, 41};
  CHECK(auc({2, labels, two}) == 1);
  const std::vector<float> three{0, 40, -50, 0, 41, -50};
  CHECK(auc({3, labels, three}) == 1);
}

TEST_CASE("class metrics: the area under the curve knows only the order") {
  CHECK(rc::check("a rising map changes nothing, a falling one mirrors", [] {
    const auto n = *rc::gen::inRange<std::size_t>(1, 60);
    std::vector<double> scores, mapped, mirrored;
    std::vector<std::uint8_t> positive;
    for (std::size_t i = 0; i < n; ++i) {
      scores.push_back(*rc::gen::inRange(-5, 6));
      mapped.push_back(std::exp(scores.back()) + 3);
      mirrored.push_back(-scores.back());
      positive.push_back(*rc::gen::inRange<std::uint8_t>(0, 2));
    }
    const double area = area_under_curve(scores, positive);
    RC_ASSERT(area >= 0 && area <= 1);
    RC_ASSERT(area_under_curve(mapped, positive) == area);
    RC_ASSERT(std::abs(area_under_curve(mirrored, positive) - (1 - area)) < 1e-12);
  }));
}

TEST_CASE("class metrics: they are in their ranges and agree with each other") {
  CHECK(rc::check("of any predictions", [] {
    const auto problem = a_problem();
    const auto p = problem.view();
    const auto c = confusion_of(p);
    RC_ASSERT(c.examples() == p.labels.size());
    for (const double share : {accuracy(c), balanced_accuracy(c), f1_macro(c), auc(p)})
      RC_ASSERT(share >= 0 && share <= 1 + 1e-12);
    const double m = matthews(c);
    RC_ASSERT(m >= -1 - 1e-9 && m <= 1 + 1e-9);
    confusion_counts turned{c.classes, c.counts};
    for (std::size_t i = 0; i < c.classes; ++i)
      for (std::size_t j = 0; j < c.classes; ++j)
        turned.counts[j * c.classes + i] = c.at(i, j);
    RC_ASSERT(std::abs(matthews(turned) - m) < 1e-12);
    RC_ASSERT(std::abs(f1_macro(turned) - f1_macro(c)) < 1e-12);
    RC_ASSERT(top(p, 1) == accuracy(c));
    RC_ASSERT(top(p, p.classes) == 1);
    RC_ASSERT(top(p, 2) >= top(p, 1));
    RC_ASSERT(log_loss(p) > 0);
  }));
}

TEST_CASE("class metrics: the error of a share is the binomial's, and never 0") {
  std::vector<std::int64_t> labels(98, 0);
  std::vector<float> scores;
  for (int i = 0; i < 98; ++i)
    scores.insert(scores.end(), {1, 0});
  // 99 of 100: sqrt(0.99 * 0.01 / 98).
  CHECK(sampling_error(classification, "accuracy", class_predictions{2, labels, scores})
        == Approx(0.010050890913907).epsilon(1e-9));
}

TEST_CASE("class metrics: the error of other metrics shrinks with the root of examples") {
  const auto error_of = [](std::size_t examples) {
    auto random = derive(3, purpose::synthetic, 0, 0);
    std::vector<std::int64_t> labels;
    std::vector<float> scores;
    for (std::size_t i = 0; i < examples; ++i) {
      labels.push_back(static_cast<std::int64_t>(i % 2));
      scores.push_back(0);
      scores.push_back(static_cast<float>(random.normal() + 0.8 * (i % 2)));
    }
    return sampling_error(classification, "auc", class_predictions{2, labels, scores});
  };
  const double few = error_of(100), many = error_of(1600);
  // Hanley and McNeil's formula gives 0.046 for an area of 0.71 and 50 of each.
  CHECK(few == Approx(0.046).epsilon(0.3));
  CHECK(few / many == Approx(4).epsilon(0.35));
  CHECK(error_of(100) == few);
}
