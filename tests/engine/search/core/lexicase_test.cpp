#include "engine/search/core/lexicase.hpp"
#include "engine/search/core/strategy.hpp"
#include "tests/engine/search/toy_world.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>

using namespace clade;

namespace {

constexpr double none = -std::numeric_limits<double>::infinity();

individual with_cases(candidate_id id, std::vector<double> cases) {
  auto i = an_individual(id, 0);
  i.cases = std::move(cases);
  return i;
}

std::vector<int> chosen(const std::vector<individual>& population, int draws) {
  const lexicase by(population);
  std::vector<int> counts(population.size(), 0);
  for (int n = 0; n < draws; ++n) {
    auto random = derive(1, purpose::selection, 1, static_cast<std::uint64_t>(n));
    ++counts[by.select(random)];
  }
  return counts;
}

} // namespace

TEST_CASE("lexicase: whoever is best at a case breeds and the middling do not") {
  // Medians 0.5 and 0.5, deviations from them 0.1 at the median.
  const auto counts = chosen({with_cases(1, {0.9, 0.1}), with_cases(2, {0.1, 0.9}),
                              with_cases(3, {0.5, 0.5}), with_cases(4, {0.45, 0.55}),
                              with_cases(5, {0.6, 0.4})},
                             2'000);
  CHECK(std::abs(counts[0] - 1'000) < 100);
  CHECK(counts[0] + counts[1] == 2'000);
}

TEST_CASE("lexicase: those within epsilon of the best share by the next case") {
  // Epsilon of both cases is 0.1.
  const std::vector<individual> alike = {
      with_cases(1, {0.60, 0.30}), with_cases(2, {0.55, 0.70}),
      with_cases(3, {0.30, 0.40}), with_cases(4, {0.40, 0.50}),
      with_cases(5, {0.45, 0.55})};
  CHECK(chosen(alike, 500) == std::vector<int>{0, 500, 0, 0, 0});
}

TEST_CASE("lexicase: equals share evenly") {
  const auto counts = chosen(
      {with_cases(1, {1, 1}), with_cases(2, {1, 1}), with_cases(3, {1, 1})}, 3'000);
  for (const int n : counts)
    CHECK(std::abs(n - 1'000) < 120);
}

TEST_CASE("lexicase: a case that is missing is the worst and leaves epsilon alone") {
  CHECK(chosen({with_cases(1, {none, none}), with_cases(2, {0.2}),
                with_cases(3, {0.2, std::nan("")})},
               300)[0]
        == 0);
  CHECK(chosen({a_failed_individual(1), a_failed_individual(2)}, 100)[0] > 20);
}

TEST_CASE("lexicase: without cases it is by fitness") {
  CHECK(chosen({an_individual(1, 0.1), an_individual(2, 0.9), an_individual(3, 0.11)}, 50)
        == std::vector<int>{0, 50, 0});
}

TEST_CASE("lexicase: cases are oriented, and a failure has none") {
  auto e = a_success(1, 0.9);
  e.metrics.push_back({"validation.loss", 0.25});
  const std::vector<aim> by = {
      {"validation.loss", false}, {"validation.accuracy", true}, {"validation.r2", true}};
  CHECK(cases_of(e, by) == std::vector<double>{-0.25, 0.9, none});
  CHECK(cases_of(a_failure(1), by).empty());
  CHECK(cases_of(e, {}).empty());
}

TEST_CASE("lexicase: a run's individuals have cases and specialists breed") {
  auto rules = toy_rules("generational");
  rules.evolution.selection = "lexicase";
  rules.cases = {{"validation.accuracy", true}, {"validation.loss", false}};
  auto search = toy_simulation(rules);
  // Loss falls with x, accuracy is best at three quarters.
  search.evaluate = [](const candidate& c) {
    auto e = toy_world{}.evaluate(c);
    if (e.outcome == outcome::succeeded)
      e.metrics.push_back(
          {"validation.loss", 1 - static_cast<double>(toy_number(*c.genome)) / 10'000});
    return e;
  };
  const auto run = simulate(search);
  REQUIRE(run.state.finished);
  const auto parents = run.state.search->population();
  for (const auto& i : parents) {
    REQUIRE(i.cases.size() == 2);
    CHECK(i.cases[0] == i.fitness.primary);
    CHECK(i.cases[1] == i.fitness.secondary);
  }
  std::int64_t greatest = 0;
  for (const auto& i : parents)
    greatest = std::max(greatest, toy_number(*i.genome));
  CHECK(greatest > 9'000);
  auto by_fitness = search;
  by_fitness.rules.evolution.selection = "tournament";
  by_fitness.rules.cases.clear();
  for (const auto& i : simulate(by_fitness).state.search->population())
    CHECK(i.cases.empty());
}
