#include "engine/search/strategies/evolution/mu_plus_lambda.hpp"
#include "engine/search/strategies/registry/registry.hpp"
#include "tests/engine/search/toy_world.hpp"

#include <catch2/catch.hpp>

#include <set>

using namespace clade;

namespace {

evolution_params two_plus(std::size_t children) {
  return {.strategy = "mu_plus_lambda",
          .population = children,
          .generations = 3,
          .elites = 2};
}

void close_generation(strategy& s, const std::vector<individual>& children) {
  for (const auto& order : s.ask())
    s.born(a_candidate(order.id));
  for (const auto& c : children)
    s.tell(c);
  REQUIRE(s.closing());
  s.close();
}

} // namespace

TEST_CASE("mu plus lambda: parents are the best of parents and children together") {
  const auto search = *make_strategy(two_plus(3), 1);
  strategy& s = *search;
  for (const auto& order : s.ask())
    CHECK(order.how == breeding::kind::sample);
  close_generation(s,
                   {an_individual(1, 0.1), an_individual(2, 0.2), an_individual(3, 0.3)});
  CHECK(to_text(s.population()) == "#3=0.3 #2=0.2");
  close_generation(
      s, {an_individual(4, 0.0), an_individual(6, 0.25), an_individual(5, 0.1)});
  CHECK(to_text(s.population()) == "#3=0.3 #6=0.25");
  close_generation(s,
                   {an_individual(7, 0.0), an_individual(8, 0.3), an_individual(9, 1)});
  CHECK(to_text(s.population()) == "#9=1.0 #3=0.3");
  CHECK(s.finished());
}

TEST_CASE("mu plus lambda: every parent breeds as often as another") {
  auto params = two_plus(2'000);
  params.crossover = 0.25;
  const auto search = *make_strategy(params, 1);
  strategy& s = *search;
  std::vector<individual> children;
  for (candidate_id id = 1; id <= 2'000; ++id)
    children.push_back(an_individual(id, static_cast<double>(id)));
  close_generation(s, children);
  int best = 0, second = 0, crosses = 0;
  for (const auto& order : s.ask()) {
    best += order.parents.front().id == 2'000 ? 1 : 0;
    second += order.parents.back().id == 1'999 ? 1 : 0;
    crosses += order.how == breeding::kind::cross ? 1 : 0;
  }
  // Half of those that draw a second parent draw the first one again.
  CHECK(std::abs(crosses - 250) < 60);
  CHECK(std::abs(best - second) < 150);
}

TEST_CASE("mu plus lambda: the failed are parents only where all failed") {
  const auto search = *make_strategy(two_plus(3), 1);
  strategy& s = *search;
  close_generation(
      s, {a_failed_individual(1), a_failed_individual(2), a_failed_individual(3)});
  CHECK(to_text(s.population()) == "#1=failed #2=failed");
  close_generation(
      s, {a_failed_individual(4), an_individual(5, -1), a_failed_individual(6)});
  CHECK(to_text(s.population()) == "#5=-1.0");
}
