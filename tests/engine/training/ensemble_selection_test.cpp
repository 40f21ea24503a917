#include "engine/training/ensemble_selection.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <random>

using namespace clade;

namespace {

double loss_of_answers(const validation_answers& answers, loss_kind kind) {
  double sum = 0;
  for (const double a : answers)
    sum += kind == loss_kind::cross_entropy ? -std::log(std::max(a, 1e-12)) : a * a;
  return sum / static_cast<double>(answers.size());
}

double loss_of(const std::vector<validation_answers>& models,
               const std::vector<std::uint32_t>& chosen, loss_kind kind) {
  double count = 0;
  validation_answers mean(models.front().size(), 0);
  for (std::size_t m = 0; m < models.size(); ++m) {
    count += chosen[m];
    for (std::size_t i = 0; i < mean.size(); ++i)
      mean[i] += chosen[m] * models[m][i];
  }
  for (auto& v : mean)
    v /= count;
  return loss_of_answers(mean, kind);
}

} // namespace

TEST_CASE("ensemble selection: models whose errors cancel are chosen together") {
  const std::vector<validation_answers> models{{1, -1, 1}, {-1, 1, -1}, {1.1, 1.1, 1.1}};
  CHECK(select_ensemble(models, loss_kind::squared_error)
        == std::vector<std::uint32_t>{1, 1, 0});
}

TEST_CASE("ensemble selection: one that is best by itself stays alone") {
  const std::vector<validation_answers> models{{0.2, 0.3}, {0.9, 0.9}, {0.5, 0.5}};
  CHECK(select_ensemble(models, loss_kind::cross_entropy)
        == std::vector<std::uint32_t>{0, 1, 0});
}

TEST_CASE("ensemble selection: none is worse than its best member") {
  std::mt19937_64 draw(1);
  std::uniform_real_distribution<double> unit(0.01, 1);
  for (int trial = 0; trial < 200; ++trial)
    for (const auto kind : {loss_kind::cross_entropy, loss_kind::squared_error}) {
      std::vector<validation_answers> models(1 + draw() % 8);
      for (auto& m : models)
        for (int i = 0; i < 20; ++i)
          m.push_back(unit(draw));
      double best = std::numeric_limits<double>::infinity();
      for (const auto& m : models)
        best = std::min(best, loss_of_answers(m, kind));
      const auto chosen = select_ensemble(models, kind);
      CHECK(loss_of(models, chosen, kind) <= best + 1e-12);
    }
}

TEST_CASE(
    "ensemble selection: what is no number is never chosen, and nothing of nothing") {
  const std::vector<validation_answers> models{{std::nan("")}, {0.5}};
  CHECK(select_ensemble(models, loss_kind::squared_error)
        == std::vector<std::uint32_t>{0, 1});
  CHECK(select_ensemble({}, loss_kind::squared_error).empty());
}

TEST_CASE(
    "ensemble selection: the temperature cools what is right and warms what is sure") {
  // Right nine times of ten with a probability of 0.999: too sure.
  std::vector<float> sure;
  std::vector<std::int64_t> labels;
  for (int i = 0; i < 100; ++i) {
    sure.insert(sure.end(), {0.999F, 0.001F});
    labels.push_back(i % 10 == 0 ? 1 : 0);
  }
  const double t = fit_temperature(sure, labels);
  CHECK(t == Approx(std::log(999.0) / std::log(9.0)).epsilon(1e-3));
  std::vector<float> unsure;
  for (int i = 0; i < 100; ++i)
    unsure.insert(unsure.end(), {0.6F, 0.4F});
  CHECK(fit_temperature(unsure, labels) < 1);
}
