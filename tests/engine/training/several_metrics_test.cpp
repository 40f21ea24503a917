#include "engine/training/metrics/ensemble_selection.hpp"
#include "engine/training/metrics/metrics.hpp"
#include "engine/training/metrics/sampling_error.hpp"

#include <catch2/catch.hpp>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>

using namespace clade;

namespace {

// Five examples of three labels; what is expected of them is scikit-learn's.
struct labelled {
  std::vector<double> actual{1, 0, 1, 0, 0, 1, 1, 1, 0, 0, 1, 1, 1, 0, 0};
  std::vector<double> log_odds{0.5, -1,  2,    -0.2, 0.3, -1.5, 1,   0.1,
                               -2,  0.7, -0.4, 0.9,  -3,  -2,   0.25};
  std::vector<std::string> names{"red", "round", "odd one"};

  [[nodiscard]] several_predictions predictions() const {
    return {3, actual, log_odds, {}, names};
  }
};

struct measured_numbers {
  std::vector<double> actual{1, 100, 2, 300, 3, 200}, predicted{1, 110, 3, 300, 3, 180};
  std::vector<target_scale> scales{{.deviation = 2}, {.deviation = 50}};
  std::vector<std::string> names{"small", "large"};

  [[nodiscard]] several_predictions predictions() const {
    return {2, actual, predicted, scales, names};
  }
};

} // namespace

TEST_CASE("several metrics: of labels they are those of scikit-learn") {
  const labelled l;
  const auto of = [&](std::string_view name) {
    return measure(multilabel, name, l.predictions());
  };
  CHECK(of("f1_micro") == Approx(0.625));
  CHECK(of("f1_macro") == Approx(0.611111111111111));
  CHECK(of("accuracy") == Approx(0.6));
  CHECK(of("exact_match") == Approx(0.4));
  CHECK(of("auc") == Approx((0.5 + 0.666666666667 + 0.833333333333) / 3));
  CHECK(of("loss") == Approx(0.7674380261147997));
  CHECK(of("f1.round") == Approx(0.5));
  CHECK(of("auc.odd one") == Approx(0.833333333333));
  CHECK(std::isnan(of("f1.blue")));
  CHECK(std::isnan(of("rmse")));
}

TEST_CASE("several metrics: the loss of labels is finite however sure one is") {
  const std::vector<double> actual{1, 0}, wrong{-800, 800}, right{800, -800};
  CHECK(label_loss({2, actual, wrong}) == Approx(800));
  CHECK(label_loss({2, actual, right}) == 0);
}

TEST_CASE("several metrics: labels that all have or none have say nothing of a curve") {
  const std::vector<double> actual{1, 0, 1, 1, 1, 0}, odds{1, -1, 2, 3, 4, -5};
  // The first label is everybody's.
  CHECK(auc_of_labels({2, actual, odds}) == 1);
  CHECK(auc_of_label({2, actual, odds}, 0) == 0.5);
  const std::vector<double> nobody{0, 0}, none{-1, -1};
  CHECK(auc_of_labels({1, nobody, none}) == 0.5);
  CHECK(f1_micro({1, nobody, none}) == 1);
}

TEST_CASE("several metrics: of numbers each is the mean over the targets") {
  const measured_numbers m;
  const auto of = [&](std::string_view name) {
    return measure(regression, name, m.predictions());
  };
  const double small = 1.0 / 3, large = 500.0 / 3; // Mean squared errors.
  CHECK(of("mse") == Approx((small + large) / 2));
  CHECK(of("rmse") == Approx((std::sqrt(small) + std::sqrt(large)) / 2));
  CHECK(of("loss") == Approx((small / 4 + large / 2500) / 2));
  CHECK(of("r2") == Approx((0.5 + 0.975) / 2));
  CHECK(of("rmse.large") == Approx(std::sqrt(large)));
  CHECK(of("mae.small") == Approx(1.0 / 3));
  CHECK(std::isnan(of("rmse.none")));
}

TEST_CASE("several metrics: those of labels have names, directions and a list") {
  CHECK(find_part_metric(multilabel, "f1_micro")->maximize);
  CHECK_FALSE(find_part_metric(multilabel, "log_loss")->maximize);
  CHECK(find_part_metric(multilabel, "auc.odd one")->name == "auc.odd one");
  CHECK_FALSE(find_part_metric(multilabel, "rmse"));
  CHECK_FALSE(find_part_metric(multilabel, "accuracy.red"));
  CHECK(part_metric_list(multilabel, "validation.")
        == "validation.loss, validation.f1_micro, validation.accuracy, "
           "validation.f1_macro, validation.auc, validation.exact_match, "
           "validation.f1.LABEL");
  const objective goal{.metric = "validation.f1.odd one"};
  const auto asked = asked_for(multilabel, goal, std::vector<std::string>{"auc.red"});
  CHECK(asked.validation == std::vector<std::string>{"auc.red", "f1.odd one"});
  CHECK(check_classes(asked, labelled().names));
  const auto unknown = check_classes(asked, std::vector<std::string>{"odd one", "blue"});
  REQUIRE_FALSE(unknown);
  CHECK(unknown.error().message
        == "the metric \"auc.red\" names no class of the data; there are auc.odd one, "
           "auc.blue");
}

TEST_CASE("several metrics: they have errors and intervals as others have") {
  const labelled l;
  for (const std::string_view metric : {"f1_micro", "auc", "loss"}) {
    CHECK(sampling_error(multilabel, metric, l.predictions()) > 0);
    CHECK(bootstrap_interval(multilabel, metric, l.predictions(), 1));
    CHECK(difference_error(multilabel, metric, l.predictions(), l.predictions()) == 0);
  }
  const measured_numbers m;
  CHECK(sampling_error(regression, "rmse", m.predictions()) > 0);
}

TEST_CASE("several metrics: an ensemble of labels is chosen by their cross-entropy") {
  // The first is right and unsure, the second sure and once wrong; both together are best.
  const std::vector<validation_answers> models{{0.2, 0.2, 0.2, 0.2}, {4, 4, 4, -0.1}};
  const auto chosen = select_ensemble(models, loss_kind::binary_cross_entropy);
  CHECK(chosen[1] > chosen[0]);
  const std::vector<validation_answers> worse{{1, 1}, {-1, -1}};
  CHECK(select_ensemble(worse, loss_kind::binary_cross_entropy)
        == std::vector<std::uint32_t>{1, 0});
}

TEST_CASE("several metrics: better odds are never a higher loss") {
  REQUIRE(rc::check([] {
    const auto odds =
        *rc::gen::container<std::vector<int>>(rc::gen::inRange(-5000, 5000));
    RC_PRE(!odds.empty());
    std::vector<double> actual, said, better;
    for (const int o : odds) {
      actual.push_back(*rc::gen::inRange(0, 2));
      said.push_back(o / 100.0);
      better.push_back(said.back() + (actual.back() > 0 ? 0.5 : -0.5));
    }
    RC_ASSERT(label_loss({1, actual, better}) <= label_loss({1, actual, said}));
    RC_ASSERT(label_accuracy({1, actual, better}) >= label_accuracy({1, actual, said}));
    RC_ASSERT(exact_match({1, actual, said}) == label_accuracy({1, actual, said}));
  }));
}

// from sklearn.metrics import mean_pinball_loss as m
// a, p = [1, 2, 3, 10], [[0, 2], [1, 2], [4, 5], [2, 12]]
// m(a, [v[0] for v in p], alpha=.1), m(a, [v[1] for v in p], alpha=.9)
TEST_CASE("several metrics: of quantiles they are those of scikit-learn") {
  const std::vector<double> actual{1, 1, 2, 2, 3, 3, 10, 10},
      predicted{0, 2, 1, 2, 4, 5, 2, 12};
  const std::vector<target_scale> scales{{3, 4, 0.1}, {3, 4, 0.9}};
  const std::vector<std::string> names{"q0.1", "q0.9"};
  const several_predictions p{2, actual, predicted, scales, names};
  CHECK(measure(quantiles, "pinball.q0.1", p) == Approx(0.475));
  CHECK(measure(quantiles, "pinball.q0.9", p) == Approx(0.125));
  CHECK(measure(quantiles, "pinball", p) == Approx(0.3));
  CHECK(measure(quantiles, "loss", p) == Approx(0.075));
  CHECK(measure(quantiles, "below.q0.1", p) == Approx(0.25));
  CHECK(measure(quantiles, "below.q0.9", p) == 1);
  CHECK(std::isnan(measure(quantiles, "pinball.q0.5", p)));
  CHECK(sampling_error(quantiles, "pinball", p) > 0);
}

// The loss is least at the quantile: a law of it, whatever the values.
TEST_CASE("several metrics: no constant has less pinball loss than the quantile") {
  CHECK(rc::check([] {
    const auto values = *rc::gen::nonEmpty<std::vector<int>>();
    const double q = *rc::gen::inRange(1, 100) / 100.0;
    auto sorted = values;
    std::ranges::sort(sorted);
    const auto rank =
        static_cast<std::size_t>(std::ceil(q * static_cast<double>(sorted.size())) - 1);
    const auto loss = [&](double constant) {
      const std::vector<double> actual(values.begin(), values.end()),
          predicted(values.size(), constant);
      const std::vector<target_scale> scales{{0, 1, q}};
      return pinball({1, actual, predicted, scales});
    };
    const double least = loss(sorted[std::min(rank, sorted.size() - 1)]);
    for (const int other : sorted)
      RC_ASSERT(least <= loss(other) + 1e-9 * (1 + std::abs(least)));
  }));
}
