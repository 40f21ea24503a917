#include "engine/search/models/fitted/screening.hpp"
#include "genome/genes/hash.hpp"
#include "genome/variation/crossover.hpp"
#include "genome/variation/mutation.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <set>
#include <string>

using namespace clade;

namespace {

promise_function improvement_by(const surrogate& model) {
  return [&model](std::span<const double> row) {
    return log_expected_improvement(model.predict(row), model.best());
  };
}

/// Eight choices of four; each "good" one adds 1.
grammar letters() {
  grammar rules;
  rules.max_nodes = 0;
  for (int i = 0; i < 8; ++i)
    rules.hyperparameters.push_back(
        {"p" + std::to_string(i),
         choice_domain{.options = {"bad", "good", "poor", "worse"}},
         {},
         false});
  return rules;
}

double worth(const genome& g) {
  double sum = 0;
  for (const setting& s : g.hyperparameters)
    sum += s.value == value{"good"} ? 1 : 0;
  return sum;
}

/// A search that asks for one at a time, `in_flight` of them before any is told.
struct search {
  grammar rules = letters();
  genome_features features{rules};
  std::vector<genome> genomes;
  std::vector<example> examples;
  std::set<genome_hash> known;

  variation_operators operators() {
    return {[&](random_stream& r) { return sample_genome(rules, r); },
            [&](const genome& g, random_stream& r) {
              return mutate(rules, g, mutation_params{}, r).child;
            },
            [&](const genome& a, const genome& b, random_stream& r) {
              return cross(rules, a, b, r);
            },
            [&](const genome& g) { return features.encode(g); },
            [&](const genome& g) { return known.contains(canonical_hash(g)); }};
  }

  void tell(const genome& g) {
    genomes.push_back(g);
    examples.push_back({features.encode(g), worth(g)});
  }

  std::vector<genome> ask(std::uint64_t seed, std::size_t in_flight = 1) {
    auto model = surrogate::fit(examples, features.blocks(), seed);
    std::vector<const genome*> parents;
    for (const genome& g : genomes)
      parents.push_back(&g);
    std::ranges::stable_sort(parents, std::greater{},
                             [](const genome* g) { return worth(*g); });
    std::vector<genome> asked;
    for (std::size_t i = 0; i < in_flight; ++i) {
      auto random = derive(seed, purpose::screening, genomes.size(), i);
      auto best =
          screen_several(improvement_by(model), parents, operators(), {}, random, 1);
      if (best.empty())
        break;
      const genome& g = asked.emplace_back(std::move(best.front()));
      known.insert(canonical_hash(g));
      model.believe(features.encode(g));
    }
    return asked;
  }

  void start(std::uint64_t seed) {
    for (std::uint64_t i = 0; i < 8; ++i) {
      auto random = derive(seed, purpose::sample, 0, i);
      const genome g = sample_genome(rules, random);
      if (known.insert(canonical_hash(g)).second)
        tell(g);
    }
  }
};

} // namespace

TEST_CASE("screening: finds in 30 evaluations what chance needs 65,000 for") {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    search s;
    s.start(seed);
    while (s.examples.size() < 30)
      for (const genome& g : s.ask(seed))
        s.tell(g);
    double best = 0;
    for (const example& e : s.examples)
      best = std::max(best, e.fitness);
    CHECK(best == 8);
  }
}

TEST_CASE("screening: the same seed asks for the same genome") {
  search a, b;
  a.start(1);
  b.start(1);
  CHECK(a.ask(7) == b.ask(7));
}

TEST_CASE("screening: several in flight are all different and none is known") {
  search s;
  s.start(1);
  const auto before = s.known;
  const auto asked = s.ask(1, 6);
  CHECK(asked.size() == 6);
  std::set<genome_hash> networks;
  for (const genome& g : asked) {
    CHECK(!before.contains(canonical_hash(g)));
    networks.insert(canonical_hash(g));
  }
  CHECK(networks.size() == 6);
}

TEST_CASE("screening: finds nothing where everything is known") {
  search s;
  s.start(1);
  const auto model = surrogate::fit(s.examples, s.features.blocks(), 1);
  auto operators = s.operators();
  operators.known = [](const genome&) { return true; };
  const genome* parent = &s.genomes[0];
  auto random = derive(1, purpose::screening, 0, 0);
  CHECK(screen_several(improvement_by(model), {&parent, 1}, operators, {}, random, 1)
            .empty());
}

TEST_CASE("screening: expected improvement") {
  // phi(0) = 0.398942, and phi(1) + Phi(1) = 1.083316, phi(1) - Phi(-1) = 0.083315.
  CHECK(std::exp(log_expected_improvement({0, 1}, 0)) == Approx(0.3989422804));
  CHECK(std::exp(log_expected_improvement({1, 1}, 0)) == Approx(1.0833154706));
  CHECK(std::exp(log_expected_improvement({0, 1}, 1)) == Approx(0.0833154706));
  CHECK(std::exp(log_expected_improvement({0, 2}, 2)) == Approx(2 * 0.0833154706));
  CHECK(std::exp(log_expected_improvement({9, 1}, 0)) == Approx(9));
  // Far below: ln phi(x) - 2 ln x, a little less.
  const double far = log_expected_improvement({0, 1}, 40);
  CHECK(far == Approx(-800.9189 - 2 * std::log(40)).margin(0.01));
}

TEST_CASE("screening: expected improvement rises with the mean and has no seams") {
  double last = log_expected_improvement({-30, 1}, 0);
  for (double mean = -30; mean < 10; mean += 0.001) {
    const double next = log_expected_improvement({mean + 0.001, 1}, 0);
    CHECK(next > last);
    if (next - last > 0.04)
      FAIL("a jump at " << mean);
    last = next;
  }
}
