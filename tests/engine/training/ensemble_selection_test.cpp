#include "engine/run/steps/final_choice.hpp"
#include "engine/training/metrics/ensemble_selection.hpp"

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

TEST_CASE("ensemble selection: answers of a quantile are judged by its loss") {
  // By output: of the lower quantile it costs to be above, of the upper one to be below.
  const std::vector<target_scale> scales{{0, 1, 0.1}, {0, 1, 0.9}};
  answer_loss loss(loss_kind::pinball);
  loss.scales = scales;
  CHECK(loss.of(-1, 0) == Approx(0.1));
  CHECK(loss.of(1, 2) == Approx(0.9));
  CHECK(loss.of(-1, 3) == Approx(0.9));
  CHECK(loss.of(1, 1) == Approx(0.1));
  std::vector<validation_answers> models(2);
  for (int i = 0; i < 100; ++i) {
    models[0].insert(models[0].end(), {-1, 1});
    models[1].insert(models[1].end(), {-2, 1});
  }
  CHECK(select_ensemble(models, loss) == std::vector<std::uint32_t>{1, 0});
  CHECK(select_from_samples(models, loss, 1) == std::vector<std::uint32_t>{50, 0});
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
    "ensemble selection: of equal models and few examples the luckiest is not alone") {
  // Six models are as good as each other: the ensemble from samples is better on examples
  // that nobody has seen than the model that was best on thirteen.
  std::mt19937_64 draw(5);
  std::normal_distribution<double> normal;
  constexpr std::size_t few = 13, many = 2000;
  double of_luckiest = 0, of_ensemble = 0;
  for (int trial = 0; trial < 60; ++trial) {
    std::vector<validation_answers> seen(6), unseen(6);
    for (std::size_t i = 0; i < few + many; ++i) {
      const double hard = normal(draw);
      for (std::size_t m = 0; m < seen.size(); ++m)
        (i < few ? seen : unseen)[m].push_back(
            1 / (1 + std::exp(-1.5 - hard - normal(draw))));
    }
    const auto chosen = select_from_samples(seen, loss_kind::cross_entropy, 1);
    CHECK(std::ranges::count_if(chosen, [](auto c) { return c > 0; }) > 1);
    const auto luckiest = std::ranges::min_element(seen, {}, [](const auto& a) {
      return loss_of_answers(a, loss_kind::cross_entropy);
    });
    of_luckiest +=
        loss_of_answers(unseen[static_cast<std::size_t>(luckiest - seen.begin())],
                        loss_kind::cross_entropy);
    of_ensemble += loss_of(unseen, chosen, loss_kind::cross_entropy);
  }
  CHECK(of_ensemble < of_luckiest);
}

TEST_CASE(
    "ensemble selection: from samples of many examples, one clearly better is alone") {
  std::mt19937_64 draw(2);
  std::uniform_real_distribution<double> unit(0.3, 0.7);
  const std::size_t examples = GENERATE(1000, 4999, 5000);
  std::vector<validation_answers> models(4);
  for (std::size_t m = 0; m < models.size(); ++m)
    for (std::size_t i = 0; i < examples; ++i)
      models[m].push_back(m == 2 ? 0.25 + unit(draw) : unit(draw));
  const auto chosen = select_from_samples(models, loss_kind::cross_entropy, 1);
  CHECK(chosen[2] > 0);
  CHECK(chosen[0] + chosen[1] + chosen[3] == 0);
  CHECK(select_from_samples(models, loss_kind::cross_entropy, 1) == chosen);
}

TEST_CASE("ensemble selection: samples of nothing, or of one example, are no trouble") {
  CHECK(select_from_samples({}, loss_kind::squared_error, 1).empty());
  const std::vector<validation_answers> one{{0.5}, {0.25}}, none{{}, {}},
      broken{{std::nan(""), 1, 1}, {0.5, 0.5, 0.5}};
  CHECK(select_from_samples(one, loss_kind::squared_error, 1)
        == std::vector<std::uint32_t>{0, 1});
  CHECK(select_from_samples(none, loss_kind::squared_error, 1).size() == 2);
  CHECK(select_from_samples(broken, loss_kind::squared_error, 1)[1] > 0);
}

TEST_CASE("ensemble selection: one that is grown is never behind what it begins with") {
  std::mt19937_64 draw(1);
  for (int trial = 0; trial < 300; ++trial) {
    const std::size_t models = 1 + draw() % 5, first = draw() % models;
    // Some number for each ensemble, the same each time that it is measured.
    const auto measure =
        [&](std::span<const std::uint32_t> chosen) -> std::optional<evaluation> {
      std::uint64_t key = static_cast<std::uint64_t>(trial);
      for (const auto c : chosen)
        key = key * 31 + c;
      std::mt19937_64 from(key);
      evaluation e;
      e.metrics = {{"validation.accuracy", static_cast<double>(from() % 5)},
                   {"validation.loss", static_cast<double>(from() % 5)}};
      e.parameters = 100 * (from() % 5);
      return e;
    };
    for (const auto& goal :
         {objective{}, objective{.constraints = {{.metric = "parameters", .limit = 200}}},
          objective{.others = {{.metric = "parameters", .maximize = false}}}}) {
      std::vector<std::uint32_t> alone(models, 0);
      alone[first] = 1;
      const auto grown = grow_ensemble(models, first, goal, measure);
      CHECK(grown[first] > 0);
      CHECK_FALSE(is_behind(*measure(grown), *measure(alone), goal));
    }
  }
}

TEST_CASE("ensemble selection: without time for more, one stays alone") {
  const auto never = [](auto) { return std::optional<evaluation>(); };
  CHECK(grow_ensemble(3, 1, {}, never) == std::vector<std::uint32_t>{0, 1, 0});
}

TEST_CASE(
    "ensemble selection: the temperature cools what is right and warms what is sure") {
  // Right nine times of ten with a probability of 0.999: too sure.
  std::vector<float> sure;
  std::vector<std::int64_t> labels;
  for (int i = 0; i < 100; ++i) {
    sure.insert(sure.end(), {0.999F, 0.001F});
    labels.push_back(i % 10 == i / 10 ? 1 : 0);
  }
  const double t = fit_temperature(sure, labels);
  CHECK(t == Approx(std::log(999.0) / std::log(9.0)).epsilon(0.05));
  std::vector<float> unsure;
  for (int i = 0; i < 100; ++i)
    unsure.insert(unsure.end(), {0.6F, 0.4F});
  CHECK(fit_temperature(unsure, labels) < 1);
}

TEST_CASE("ensemble selection: what has made no error yet is not taken for sure") {
  std::vector<float> right;
  std::vector<std::int64_t> labels;
  for (int i = 0; i < 80; ++i) {
    right.insert(right.end(), {0.97F, 0.03F});
    labels.push_back(0);
  }
  const double t = fit_temperature(right, labels);
  const double p = 1 / (1 + std::pow(0.97 / 0.03, 1 / t));
  CHECK(p > 0.9 / 82);
  CHECK(t > 0.5);
}

TEST_CASE("ensemble selection: examples say how unlikely a class can be") {
  for (const std::size_t examples : {1, 30, 455, 60'000})
    for (const std::size_t classes : {2, 3, 100}) {
      CAPTURE(examples, classes);
      const double least = least_probability_of(examples, classes);
      const bool told = static_cast<double>(classes) / 2 < static_cast<double>(examples);
      CHECK(least * static_cast<double>(classes) <= 0.5);
      CHECK((!told || least > 1 / (static_cast<double>(examples) + 2)
             || least * static_cast<double>(classes) == Approx(0.5)));
    }
  CHECK(least_probability_of(455, 2) == Approx(1 / 456.0));
}

TEST_CASE("ensemble selection: no temperature is worse than none") {
  std::mt19937_64 draw(3);
  std::uniform_real_distribution<float> unit(0, 1);
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<float> said;
    std::vector<std::int64_t> labels;
    for (std::size_t i = 0; i < 5 + draw() % 60; ++i) {
      float sum = 0, row[3];
      for (auto& p : row)
        sum += p = std::pow(unit(draw), 8.0F);
      for (const auto p : row)
        said.push_back(p / sum);
      labels.push_back(static_cast<std::int64_t>(draw() % 3));
    }
    said.resize(labels.size() * 3);
    const double t = fit_temperature(said, labels);
    CHECK(expected_loss(said, labels, t) <= expected_loss(said, labels, 1));
  }
  CHECK(fit_temperature({}, {}) == 1);
}
