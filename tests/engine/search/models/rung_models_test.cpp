#include "engine/search/models/fitted/rung_models.hpp"
#include "genome/variation/mutation.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <string>

using namespace clade;

namespace {

grammar six_choices() {
  grammar rules;
  rules.max_nodes = 0;
  const choice_domain options{.options = {"a", "b", "c", "d"}, .ordered = false};
  for (int i = 0; i < 6; ++i)
    rules.hyperparameters.push_back({"c" + std::to_string(i), options, {}, false});
  return rules;
}

/// Returns the worth of a full training; no two choices have a best option in common.
double worth(const genome& g) {
  double sum = 0;
  for (const setting& s : g.hyperparameters)
    sum += s.name[1] % 4 == std::get<std::string>(s.value)[0] % 4 ? 1 : 0;
  return sum;
}

/// Returns the worth of a short training that has nothing to do with it.
double whim(const genome& g) {
  double sum = 0;
  for (const setting& s : g.hyperparameters)
    sum += s.name[1] % 2 == 0 && std::get<std::string>(s.value) == "c" ? 1 : 0;
  return sum;
}

struct learnt {
  double beside = 0; ///< Squared errors of predictions from both rungs,
  double alone = 0;  ///< and from the upper rung alone.
};

/// 60 short trainings, of which the first 12 went on; told of networks that nobody
/// trained, in units of the true worth.
template<class Short>
learnt learn(Short short_training, std::uint64_t seed) {
  const auto rules = six_choices();
  const genome_features features(rules);
  std::vector<std::vector<example>> rungs(2);
  for (std::size_t i = 0; i < 60; ++i) {
    auto random = derive(seed, purpose::sample, 0, i);
    const auto g = sample_genome(rules, random);
    rungs[0].push_back({features.encode(g), short_training(g)});
    if (i < 12)
      rungs[1].push_back({features.encode(g), worth(g)});
  }
  const auto both = rung_models::fit(rungs, features.blocks(), seed);
  REQUIRE(both.highest() == 1);
  const auto alone = surrogate::fit(rungs[1], features.blocks(), seed);
  learnt sum;
  for (std::size_t i = 0; i < 200; ++i) {
    auto random = derive(seed + 1, purpose::sample, 0, i);
    const auto g = sample_genome(rules, random);
    const auto row = features.encode(g);
    // The score is by the distribution that it has.
    const auto scored = (worth(g) - 1.5) / 1.06;
    sum.beside += std::pow(both.predict(row).mean - scored, 2) / 200;
    sum.alone += std::pow(alone.predict(row).mean - scored, 2) / 200;
  }
  return sum;
}

} // namespace

TEST_CASE("rung models: short trainings that tell something improve what is predicted") {
  learnt sum;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const auto one = learn([](const genome& g) { return 0.1 * worth(g) - 7; }, seed);
    sum.beside += one.beside;
    sum.alone += one.alone;
  }
  CHECK(sum.beside < 0.8 * sum.alone);
}

TEST_CASE("rung models: short trainings that mislead do little harm") {
  learnt sum;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const auto one = learn(whim, seed);
    sum.beside += one.beside;
    sum.alone += one.alone;
  }
  CHECK(sum.beside < 1.3 * sum.alone);
}

TEST_CASE("rung models: a rung with too few successes says nothing") {
  const std::vector<feature_block> blocks{
      {.begin = 0, .size = 1, .what = feature_block::kind::number}};
  const auto at = [](double x, double fitness) {
    return example{.features = {x}, .fitness = fitness};
  };
  const double failed = -std::numeric_limits<double>::infinity();
  CHECK(rung_models::fit({{at(0, 1), at(1, 2), at(0.5, failed)}, {}}, blocks, 1).empty());
  const std::vector<example> three{at(0, 1), at(1, 2), at(0.5, 3)};
  const auto low = rung_models::fit({three, {at(0, 1), at(1, 2)}}, blocks, 1);
  REQUIRE_FALSE(low.empty());
  CHECK(low.highest() == 0);
  const auto high = rung_models::fit({{}, {}, three}, blocks, 1);
  REQUIRE_FALSE(high.empty());
  CHECK(high.highest() == 2);
  CHECK(high.predict(std::vector{0.5}).mean > high.predict(std::vector{0.0}).mean);
}

TEST_CASE("rung models: what is believed up to a rung is less uncertain") {
  const std::vector<feature_block> blocks{
      {.begin = 0, .size = 1, .what = feature_block::kind::number}};
  std::vector<std::vector<example>> rungs(2);
  for (int i = 0; i < 5; ++i)
    for (auto& rung : rungs)
      rung.push_back({{0.1 * i}, std::sin(3.0 * i)});
  auto models = rung_models::fit(rungs, blocks, 1);
  const std::vector far{1.0};
  const auto before = models.predict(far);
  models.believe(far, 0);
  const auto between = models.predict(far);
  models.believe(far, 1);
  const auto after = models.predict(far);
  CHECK(before.spread > between.spread);
  CHECK(between.spread > after.spread);
  CHECK(after.mean == Approx(before.mean).margin(1e-9));
}
