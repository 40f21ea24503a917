#include "engine/search/strategies/registry/validation.hpp"
#include "engine/search/strategies/sampling/cma_es.hpp"
#include "tests/engine/search/number_world.hpp"
#include "tests/engine/search/toy_world.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>

using namespace clade;

namespace {

evolution_params params_of(const std::string& strategy, std::size_t population,
                           std::size_t generations) {
  evolution_params p;
  p.strategy = strategy;
  p.population = population;
  p.generations = generations;
  return p;
}

double sphere(const std::vector<double>& point) {
  double sum = 0;
  for (const double x : point)
    sum += (x - 0.3) * (x - 0.3);
  return -sum;
}

/// A valley that no axis is along, a thousand times as steep across as along.
double tilted(const std::vector<double>& point) {
  const double a = point[0] - 0.6, b = point[1] - 0.4;
  return -(a + b) * (a + b) - 1'000 * (a - b) * (a - b);
}

struct means {
  double found = 0, other = 0;
};

means compare(const number_world& world, const evolution_params& params,
              const evolution_params& others, int seeds) {
  means m;
  for (int seed = 1; seed <= seeds; ++seed) {
    m.found += world.best_of(params, static_cast<std::uint64_t>(seed)) / seeds;
    m.other += world.best_of(others, static_cast<std::uint64_t>(seed)) / seeds;
  }
  return m;
}

} // namespace

TEST_CASE("gaussian: a symmetric matrix is its axes and their lengths") {
  auto random = derive(1, purpose::sample, 0, 0);
  for (const std::size_t n : {1U, 2U, 5U, 20U}) {
    std::vector<double> matrix(n * n);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j <= i; ++j)
        matrix[i * n + j] = matrix[j * n + i] = random.normal();
    const auto [values, vectors] = decompose(matrix, n);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) {
        double back = 0, dot = 0;
        for (std::size_t k = 0; k < n; ++k) {
          back += vectors[i * n + k] * values[k] * vectors[j * n + k];
          dot += vectors[k * n + i] * vectors[k * n + j];
        }
        REQUIRE(back == Approx(matrix[i * n + j]).margin(1e-12));
        REQUIRE(dot == Approx(i == j ? 1 : 0).margin(1e-12));
      }
  }
}

TEST_CASE("gaussian: draws are within the cube and spread as they should be") {
  const gaussian g({0.5, 0.02}, 0.1);
  auto random = derive(1, purpose::sample, 0, 0);
  double sum = 0, squares = 0;
  for (int i = 0; i < 10'000; ++i) {
    const auto point = g.draw(random);
    REQUIRE(point[1] >= 0);
    REQUIRE(point[1] <= 1);
    sum += point[0] - 0.5;
    squares += (point[0] - 0.5) * (point[0] - 0.5);
  }
  CHECK(std::abs(sum / 10'000) < 0.005);
  CHECK(std::sqrt(squares / 10'000) == Approx(0.1).epsilon(0.05));
}

TEST_CASE("gaussian: nothing it is told takes it out of the cube or below the least") {
  auto random = derive(2, purpose::sample, 0, 0);
  const std::vector<double> least = {0.01, 0.2, 1e-4};
  gaussian g({0.5, 0.5, 0.5}, 0.3);
  for (int step = 0; step < 300; ++step) {
    // First the same point all the time, then corners.
    std::vector<std::vector<double>> points(4, {1, 1, 1});
    if (step > 150)
      for (auto& p : points)
        for (double& x : p)
          x = static_cast<double>(random.below(2));
    g.follow(points, 8, least);
    for (std::size_t i = 0; i < 3; ++i) {
      REQUIRE(g.mean()[i] >= 0);
      REQUIRE(g.mean()[i] <= 1);
      REQUIRE(g.deviation(i) >= least[i] * 0.999);
      REQUIRE(g.deviation(i) <= 1.001);
    }
  }
}

TEST_CASE("cma-es: it finds the best of a sphere as random cannot") {
  const number_world world{.parameters = reals(6), .accuracy = sphere};
  const auto m =
      compare(world, params_of("cma_es", 9, 40), params_of("random", 9, 40), 5);
  INFO(m.found << ", random " << m.other);
  CHECK(m.found > m.other / 100);
}

TEST_CASE(
    "cma-es: it learns the direction of a valley that differential evolution fights") {
  const number_world world{.parameters = reals(2), .accuracy = tilted};
  const auto m = compare(world, params_of("cma_es", 8, 40),
                         params_of("differential_evolution", 8, 40), 10);
  INFO(m.found << ", differential evolution " << m.other);
  CHECK(m.found > m.other);
  CHECK(m.found > -1e-4);
}

TEST_CASE("cma-es: whole numbers and ordered lists are found to the step") {
  const number_world world{
      .parameters = {{.name = "n", .domain = integer_domain{.low = 1, .high = 8}},
                     {.name = "m",
                      .domain = integer_domain{.low = 1, .high = 1'000, .log = true}},
                     {.name = "batch",
                      .domain =
                          choice_domain{.options = {16, 32, 64, 128}, .ordered = true}},
                     {.name = "x", .domain = real_domain{}}},
      .accuracy = [](const std::vector<double>& x) {
        return -std::abs(x[0] - 0.8125) - std::abs(x[1] - 0.4) - std::abs(x[2] - 0.125)
               - std::abs(x[3] - 0.9);
      }};
  const auto m =
      compare(world, params_of("cma_es", 10, 30), params_of("random", 10, 30), 10);
  INFO(m.found << ", random " << m.other);
  CHECK(m.found > -0.02);
  CHECK(m.found > m.other / 5);
}

TEST_CASE("cma-es: one that has converged begins again elsewhere with more") {
  // Two hills of one width; where it begins decides which is climbed first.
  const number_world world{.parameters = reals(2),
                           .accuracy = [](const std::vector<double>& x) {
                             const auto hill = [&](double at, double width) {
                               const double a = x[0] - at, b = x[1] - at;
                               return std::max(0.0, 1 - std::sqrt(a * a + b * b) / width);
                             };
                             return std::max(0.8 * hill(0.2, 0.4), hill(0.8, 0.4));
                           }};
  int found = 0;
  std::uint64_t restarts = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const auto run = simulate(world.run(params_of("cma_es", 10, 150), seed));
    found += run.state.best.front().fitness.primary > 0.95 ? 1 : 0;
    restarts += dynamic_cast<const cma_es&>(*run.state.search).restarts();
  }
  CHECK(found >= 9);
  CHECK(restarts >= 20);
}

TEST_CASE("cma-es: where all fail nothing is learnt and the search goes on") {
  number_world world{.parameters = reals(3), .accuracy = sphere};
  auto search = world.run(params_of("cma_es", 6, 5), 1);
  search.evaluate = [](const candidate& c) { return a_failure(c.id); };
  const auto run = simulate(search);
  CHECK(run.state.failed == 30);
  const auto& g = dynamic_cast<const cma_es&>(*run.state.search).distribution();
  CHECK(g.mean() == std::vector<double>{0.5, 0.5, 0.5});
}

TEST_CASE("cma-es: spaces that it cannot serve are told who can") {
  number_world world{.parameters = reals(1), .accuracy = sphere};
  const auto said = [&] {
    const auto ok = check_strategy(params_of("cma_es", 8, 2), world.space());
    return ok ? "" : ok.error().message;
  };
  CHECK(said().empty());
  world.parameters.push_back(
      {.name = "op", .domain = choice_domain{.options = {"conv", "pool"}}});
  CHECK(said()
        == "evolution.strategy is \"cma_es\", which moves numbers alone, but the search "
           "space numbers.toml has op, a choice without an order: take "
           "\"differential_evolution\", \"regularized\" or \"generational\"");
}
