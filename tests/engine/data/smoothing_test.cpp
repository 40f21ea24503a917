#include "engine/data/forecast/smoothing.hpp"
#include "genome/base/random.hpp"

#include <catch2/catch.hpp>
#include <rapidcheck.h>

#include <cmath>
#include <numbers>
#include <vector>

namespace clade {
namespace {

double forecast(const std::vector<double>& values, std::size_t season,
                std::size_t ahead) {
  const auto model = fit_smoothing(values, season);
  smoothing_state state(model, values);
  for (const double v : values)
    state.add(v);
  return state.ahead(ahead);
}

} // namespace

TEST_CASE("smoothing: a constant is forecast as it is", "[smoothing]") {
  CHECK(forecast(std::vector<double>(20, 7.5), 1, 3) == Approx(7.5));
  CHECK(forecast({3, 3}, 12, 1) == Approx(3));
}

TEST_CASE("smoothing: a season is found and goes on", "[smoothing]") {
  std::vector<double> values;
  for (int i = 0; i < 120; ++i)
    values.push_back(100 + 10 * std::sin(2 * std::numbers::pi * i / 12));
  CHECK(fit_smoothing(values, 12).seasonal);
  for (const std::size_t ahead : {1U, 5U, 12U, 30U})
    CHECK(forecast(values, 12, ahead)
          == Approx(100
                    + 10
                          * std::sin(2 * std::numbers::pi
                                     * (119.0 + static_cast<double>(ahead)) / 12))
                 .margin(0.5));
}

TEST_CASE("smoothing: growth by a factor is smoothed as logarithms", "[smoothing]") {
  std::vector<double> values;
  auto random = derive(1, purpose::sample, 0, 0);
  for (int i = 0; i < 100; ++i)
    values.push_back(std::exp(0.03 * i) * (1 + 0.02 * (random.uniform() - 0.5)));
  const auto model = fit_smoothing(values, 1);
  CHECK(model.logarithm);
  CHECK(model.trend);
  CHECK(forecast(values, 1, 1) == Approx(std::exp(3.0)).epsilon(0.05));
}

TEST_CASE("smoothing: values without a logarithm do not end a model of logarithms",
          "[smoothing]") {
  const smoothing_model model{.logarithm = true};
  const std::vector<double> values{1, 2, 3, 2, 1};
  smoothing_state state(model, values);
  state.add(0);
  state.add(-3);
  CHECK(std::isfinite(state.ahead(3)));
}

TEST_CASE("smoothing: any finite values give finite forecasts", "[smoothing]") {
  CHECK(rc::check([] {
    const auto season = *rc::gen::inRange<std::size_t>(1, 9);
    const auto count = *rc::gen::inRange<std::size_t>(2, 60);
    const auto values = *rc::gen::container<std::vector<double>>(
        count, rc::gen::map(rc::gen::inRange(-1'000'000, 1'000'000),
                            [](int v) { return v / 1000.0; }));
    RC_ASSERT(std::isfinite(forecast(values, season, 7)));
  }));
}

} // namespace clade
