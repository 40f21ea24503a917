#include "engine/search/models/base/normal_scores.hpp"
#include "engine/search/models/fitted/surrogate.hpp"
#include "genome/variation/mutation.hpp"

#include <catch2/catch.hpp>
#include <rapidcheck.h>

#include <chrono>
#include <cmath>
#include <limits>
#include <string>

using namespace clade;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Six edges of a cell with five operators each, and a rate.
grammar cell_space() {
  grammar rules;
  rules.max_nodes = 0;
  const choice_domain operators{.options = {"none", "skip", "conv1", "conv3", "pool"},
                                .ordered = false};
  for (int edge = 0; edge < 6; ++edge)
    rules.hyperparameters.push_back(
        {"edge" + std::to_string(edge), operators, {}, false});
  rules.hyperparameters.push_back(
      {"rate", real_domain{.low = 1e-4, .high = 1, .log = true}, {}, false});
  return rules;
}

/// Convolutions pay, most on the first edge; the best rate is in the middle.
double worth(const genome& g) {
  double sum = 0;
  for (const setting& s : g.hyperparameters)
    if (s.name == "rate") {
      const double from_best = std::log10(std::get<double>(s.value)) + 2;
      sum -= from_best * from_best;
    } else if (std::get<std::string>(s.value).starts_with("conv"))
      sum += s.name == "edge0" ? 2 : 1;
  return sum;
}

struct sampled {
  std::vector<genome> genomes;
  std::vector<example> examples;
};

sampled sample_cells(const genome_features& features, std::size_t count,
                     std::uint64_t seed) {
  const grammar rules = cell_space();
  sampled all;
  for (std::size_t i = 0; i < count; ++i) {
    auto random = derive(seed, purpose::sample, 0, i);
    all.genomes.push_back(sample_genome(rules, random));
    all.examples.push_back(
        {features.encode(all.genomes.back()), worth(all.genomes.back())});
  }
  return all;
}

double correlation(const std::vector<double>& a, const std::vector<double>& b) {
  double ab = 0, aa = 0, bb = 0, ma = 0, mb = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    ma += a[i] / static_cast<double>(a.size());
    mb += b[i] / static_cast<double>(a.size());
  }
  for (std::size_t i = 0; i < a.size(); ++i) {
    ab += (a[i] - ma) * (b[i] - mb);
    aa += (a[i] - ma) * (a[i] - ma);
    bb += (b[i] - mb) * (b[i] - mb);
  }
  return ab / std::sqrt(aa * bb);
}

bool usable(const prediction& p) {
  return std::isfinite(p.mean) && std::isfinite(p.spread) && p.spread > 0;
}

} // namespace

TEST_CASE("surrogate: predicts the order of networks that it has not seen") {
  const genome_features features(cell_space());
  const auto known = sample_cells(features, 40, 1),
             unknown = sample_cells(features, 200, 2);
  const auto model = surrogate::fit(known.examples, features.blocks(), 3);
  std::vector<double> predicted, true_worth;
  for (const example& e : unknown.examples) {
    predicted.push_back(model.predict(e.features).mean);
    true_worth.push_back(e.fitness);
  }
  CHECK(correlation(predicted, true_worth) > 0.75); // the mean would give 0
}

TEST_CASE("surrogate: what parameters of one domain share is learnt from few examples") {
  const genome_features features(cell_space());
  auto blind = features.blocks();
  std::erase_if(blind, [](const auto& b) { return b.what == feature_block::kind::sum; });
  for (feature_block& b : blind)
    b.summed = false;
  const auto unknown = sample_cells(features, 200, 2);
  double with_sums = 0, without = 0;
  for (std::uint64_t seed = 10; seed < 20; ++seed) {
    const auto known = sample_cells(features, 12, seed);
    const auto model = surrogate::fit(known.examples, features.blocks(), seed);
    const auto plain = surrogate::fit(known.examples, blind, seed);
    std::vector<double> a, b, true_worth;
    for (const example& e : unknown.examples) {
      a.push_back(model.predict(e.features).mean);
      b.push_back(plain.predict(e.features).mean);
      true_worth.push_back(e.fitness);
    }
    with_sums += correlation(a, true_worth) / 10;
    without += correlation(b, true_worth) / 10;
  }
  CHECK(with_sums > without + 0.05);
}

TEST_CASE("surrogate: equal arguments give equal predictions") {
  const genome_features features(cell_space());
  const auto known = sample_cells(features, 30, 1);
  const auto a = surrogate::fit(known.examples, features.blocks(), 5);
  const auto b = surrogate::fit(known.examples, features.blocks(), 5);
  const auto c = surrogate::fit(known.examples, features.blocks(), 6);
  const auto row = sample_cells(features, 1, 9).examples[0].features;
  CHECK(a.predict(row).mean == b.predict(row).mean);
  CHECK(a.predict(row).spread == b.predict(row).spread);
  CHECK(a.predict(row).mean != c.predict(row).mean);
}

TEST_CASE("surrogate: what was measured is less in doubt than what was not") {
  const genome_features features(cell_space());
  const auto known = sample_cells(features, 30, 1),
             unknown = sample_cells(features, 30, 2);
  const auto model = surrogate::fit(known.examples, features.blocks(), 3);
  double seen = 0, unseen = 0;
  for (std::size_t i = 0; i < 30; ++i) {
    seen += model.predict(known.examples[i].features).spread;
    unseen += model.predict(unknown.examples[i].features).spread;
  }
  CHECK(seen < unseen);
}

TEST_CASE("surrogate: a genome believed keeps its mean and loses its doubt") {
  const genome_features features(cell_space());
  const auto known = sample_cells(features, 20, 1);
  auto model = surrogate::fit(known.examples, features.blocks(), 3);
  const auto row = sample_cells(features, 1, 9).examples[0].features;
  const auto before = model.predict(row);
  model.believe(row);
  const auto after = model.predict(row);
  CHECK(after.mean == Approx(before.mean));
  CHECK(after.spread < before.spread);
  model.believe(row); // an equal row a second time
  CHECK(usable(model.predict(row)));
}

TEST_CASE("surrogate: the order of columns within a block does not matter") {
  const std::vector<feature_block> blocks{{0, 3, feature_block::kind::choice, false},
                                          {3, 1, feature_block::kind::number, false}};
  std::vector<example> straight, turned;
  for (std::size_t i = 0; i < 24; ++i) {
    example e{std::vector<double>(4), static_cast<double>(i % 3) - 0.1 * (i % 5)};
    e.features[i % 3] = 0.5;
    e.features[3] = static_cast<double>(i % 5) / 4;
    straight.push_back(e);
    std::swap(e.features[0], e.features[2]);
    turned.push_back(e);
  }
  const auto a = surrogate::fit(straight, blocks, 3),
             b = surrogate::fit(turned, blocks, 3);
  for (std::size_t i = 0; i < 24; ++i)
    CHECK(a.predict(straight[i].features).mean
          == Approx(b.predict(turned[i].features).mean).margin(1e-9));
}

TEST_CASE("surrogate: survives one example, equal rows and failures of all kinds") {
  const genome_features features(cell_space());
  const auto some = sample_cells(features, 12, 1);
  const auto row = sample_cells(features, 1, 9).examples[0].features;
  const auto fitted = [&](const std::vector<example>& examples) {
    const auto model = surrogate::fit(examples, features.blocks(), 3);
    return usable(model.predict(row)) && usable(model.predict(examples[0].features))
           && std::isfinite(model.best());
  };
  CHECK(fitted({some.examples[0]}));
  CHECK(fitted({{row, -infinity}}));
  CHECK(fitted(std::vector<example>(50, some.examples[0])));
  auto constant = some.examples, failed = some.examples, mixed = some.examples;
  for (std::size_t i = 0; i < constant.size(); ++i) {
    constant[i].fitness = 1;
    failed[i].fitness = -infinity;
    mixed[i].fitness = i % 4 == 0   ? infinity
                       : i % 4 == 1 ? std::numeric_limits<double>::quiet_NaN()
                       : i % 4 == 2 ? 1e300
                                    : mixed[i].fitness;
  }
  CHECK(fitted(constant));
  CHECK(fitted(failed));
  CHECK(fitted(mixed));
}

TEST_CASE("surrogate: an example that failed counts as the worst") {
  const genome_features features(cell_space());
  auto known = sample_cells(features, 30, 1);
  const auto& row = known.examples[4].features;
  known.examples[4].fitness = 100;
  const auto good =
      surrogate::fit(known.examples, features.blocks(), 3).predict(row).mean;
  known.examples[4].fitness = -infinity;
  const auto bad = surrogate::fit(known.examples, features.blocks(), 3).predict(row).mean;
  CHECK(good > 0);
  CHECK(bad < 0);
}

TEST_CASE("surrogate: only the order of fitness counts") {
  const genome_features features(cell_space());
  auto known = sample_cells(features, 30, 1);
  const auto row = sample_cells(features, 1, 9).examples[0].features;
  const auto before = surrogate::fit(known.examples, features.blocks(), 3).predict(row);
  for (example& e : known.examples)
    e.fitness = std::exp(3 * e.fitness) - 7;
  const auto after = surrogate::fit(known.examples, features.blocks(), 3).predict(row);
  CHECK(before.mean == after.mean);
}

TEST_CASE("surrogate: a long history costs no more than its best and newest") {
  const genome_features features(cell_space());
  auto known = sample_cells(features, 1000, 1);
  surrogate_params params;
  const auto start = std::chrono::steady_clock::now();
  const auto model = surrogate::fit(known.examples, features.blocks(), 3, params);
  double sum = 0;
  for (std::size_t i = 0; i < 400; ++i)
    sum += model.predict(known.examples[i].features).mean;
  const std::chrono::duration<double, std::milli> took =
      std::chrono::steady_clock::now() - start;
  WARN("a fit on 1,000 examples and 400 predictions took " << took.count() << " ms");
  CHECK(std::isfinite(sum));
  // An old example in the middle leaves no trace.
  std::size_t middle = 0;
  for (std::size_t i = 0; i < 500; ++i)
    if (known.examples[i].fitness < known.examples[middle].fitness)
      middle = i;
  known.examples[middle].features.assign(features.width(), 0.5);
  const auto again = surrogate::fit(known.examples, features.blocks(), 3, params);
  CHECK(again.predict(known.examples[0].features).mean
        == model.predict(known.examples[0].features).mean);
}

TEST_CASE("normal scores: quantiles of the normal distribution at the ranks") {
  CHECK(normal_quantile(0.5) == Approx(0).margin(1e-12));
  CHECK(normal_quantile(0.975) == Approx(1.959963985).epsilon(1e-7));
  CHECK(normal_quantile(0.001) == Approx(-3.090232306).epsilon(1e-7));
  const auto scores = normal_scores({3, 1, 2, 2});
  CHECK(scores[1] == Approx(-scores[0]));
  CHECK(scores[2] == scores[3]);
  CHECK(scores[2] == Approx(0).margin(1e-12));
  CHECK(normal_scores({7, 7}) == std::vector<double>{0, 0});
  CHECK(normal_scores({}).empty());
}

TEST_CASE("normal scores: rise with the values, and only with them") {
  REQUIRE(rc::check("any whole numbers", [](const std::vector<std::int16_t>& numbers) {
    const auto scores = normal_scores({numbers.begin(), numbers.end()});
    for (std::size_t i = 0; i < numbers.size(); ++i)
      for (std::size_t j = 0; j < numbers.size(); ++j)
        RC_ASSERT((numbers[i] < numbers[j]) == (scores[i] < scores[j]));
  }));
}
