#include "engine/training/metrics/metrics.hpp"
#include "engine/training/metrics/sampling_error.hpp"

#include <catch2/catch.hpp>

#include <cmath>

using namespace clade;

TEST_CASE("value metrics: they are what scikit-learn computes") {
  // a, q = [3, -0.5, 2, 7, 4.25], [2.5, 0, 2, 8, 4]; of sklearn.metrics:
  // mean_squared_error(a, q), mean_absolute_error(a, q),
  // mean_absolute_percentage_error(a, q), r2_score(a, q)
  const std::vector<double> a{3, -0.5, 2, 7, 4.25}, q{2.5, 0, 2, 8, 4};
  const value_predictions p{.actual = a, .predicted = q, .deviation = 2};
  CHECK(measure(regression, "mse", p) == Approx(0.3125).epsilon(1e-12));
  CHECK(measure(regression, "rmse", p) == Approx(std::sqrt(0.3125)).epsilon(1e-12));
  CHECK(measure(regression, "loss", p) == Approx(0.078125).epsilon(1e-12));
  CHECK(measure(regression, "mae", p) == Approx(0.45).epsilon(1e-12));
  CHECK(measure(regression, "mape", p) == Approx(0.2736694677871149).epsilon(1e-12));
  CHECK(measure(regression, "smape", p) == Approx(0.47515151515151515).epsilon(1e-12));
  CHECK(measure(regression, "r2", p) == Approx(0.9491042345276873).epsilon(1e-12));
  CHECK(std::isnan(measure(regression, "auc", p)));
  const std::vector<double> zeros{0, 0}, one{0, 1};
  CHECK(measure(regression, "smape", {zeros, one}) == 1);
}

TEST_CASE("value metrics: where all values are equal, r2 is 1 for them and else 0") {
  const std::vector<double> same{2, 2, 2}, near{2, 2, 2.5};
  CHECK(r2({same, same}) == 1);
  CHECK(r2({same, near}) == 0);
  CHECK(r2({{}, {}}) == 1);
}

TEST_CASE("value metrics: the error of a mean is its deviation by the root of examples") {
  std::vector<double> actual(400, 0.0), predicted;
  for (int i = 0; i < 400; ++i)
    predicted.push_back(i % 2 == 0 ? 1 : 3);
  // Absolute errors 1 and 3: a deviation of 1, of 400 examples.
  CHECK(sampling_error(regression, "mae", value_predictions{actual, predicted})
        == Approx(0.05).epsilon(0.25));
  CHECK(sampling_error(regression, "mae", value_predictions{{}, {}}) == 0);
}
