#include "engine/search/strategies/evolution/generational.hpp"
#include "engine/search/strategies/registry/registry.hpp"
#include "tests/engine/search/toy_world.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace clade;

namespace {

evolution_params four_with_two_elites() {
  return {.population = 4, .generations = 3, .tournament = 2, .elites = 2};
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

TEST_CASE("generational: the first generation is sampled and the others are bred") {
  const auto search = *make_strategy(four_with_two_elites(), 1);
  strategy& s = *search;
  for (const auto& order : s.ask())
    CHECK(order.how == breeding::kind::sample);
  close_generation(s, {an_individual(1, 0.1), an_individual(2, 0.2),
                       an_individual(3, 0.3), an_individual(4, 0.4)});
  const auto orders = s.ask();
  REQUIRE(orders.size() == 4);
  for (const auto& order : orders) {
    CHECK(order.generation == 1);
    CHECK(order.parents.size() == (order.how == breeding::kind::cross ? 2 : 1));
  }
}

TEST_CASE("generational: parents are the children and the best of their parents") {
  const auto search = *make_strategy(four_with_two_elites(), 1);
  strategy& s = *search;
  close_generation(s, {an_individual(1, 0.1), an_individual(4, 0.4),
                       an_individual(3, 0.3), an_individual(2, 0.2)});
  CHECK(to_text(s.population()) == "#4=0.4 #3=0.3 #2=0.2 #1=0.1");
  close_generation(s, {an_individual(5, 0.35), an_individual(6, 0.05),
                       an_individual(7, 0.06), an_individual(8, 0.07)});
  CHECK(to_text(s.population()) == "#4=0.4 #5=0.35 #3=0.3 #8=0.07 #7=0.06 #6=0.05");
}

TEST_CASE("generational: the failed breed only where all failed") {
  const auto search = *make_strategy(four_with_two_elites(), 1);
  strategy& s = *search;
  close_generation(s, {a_failed_individual(1), an_individual(2, -3),
                       a_failed_individual(3), a_failed_individual(4)});
  CHECK(to_text(s.population()) == "#2=-3.0");
  const auto doomed_search = *make_strategy(four_with_two_elites(), 1);
  strategy& doomed = *doomed_search;
  close_generation(doomed, {a_failed_individual(1), a_failed_individual(2),
                            a_failed_individual(3), a_failed_individual(4)});
  CHECK(to_text(doomed.population()) == "#1=failed #2=failed #3=failed #4=failed");
}

TEST_CASE("generational: a generation is closed once all its candidates are told") {
  const auto search = *make_strategy(four_with_two_elites(), 1);
  strategy& s = *search;
  for (const auto& order : s.ask())
    s.born(a_candidate(order.id));
  CHECK(s.ask().empty());
  for (candidate_id id = 1; id <= 3; ++id) {
    s.tell(an_individual(id, 1));
    CHECK_FALSE(s.closing());
  }
  s.tell(an_individual(4, 2));
  CHECK(s.ask().empty());
  REQUIRE(s.closing());
  CHECK(s.closing()->generation == 0);
  CHECK(s.closing()->survivors == std::vector<candidate_id>{4, 1, 2, 3});
  s.close();
  CHECK_FALSE(s.closing());
  CHECK(s.ask().size() == 4);
}

TEST_CASE("generational: two parents are different and the fitter is first") {
  auto params = four_with_two_elites();
  params.population = 32;
  params.crossover = 1;
  const auto search = *make_strategy(params, 1);
  strategy& s = *search;
  std::vector<individual> children;
  for (candidate_id id = 1; id <= 32; ++id)
    children.push_back(an_individual(id, static_cast<double>(id)));
  close_generation(s, children);
  std::size_t crossed = 0;
  for (const auto& order : s.ask())
    if (order.how == breeding::kind::cross) {
      ++crossed;
      CHECK(fitter(order.parents[0], order.parents[1]));
    }
  CHECK(crossed > 20);
}

TEST_CASE("generational: truncation breeds from the best share alone") {
  auto params = four_with_two_elites();
  params.population = 32;
  params.selection = "truncation";
  params.truncation = 0.1;
  const auto search = *make_strategy(params, 1);
  strategy& s = *search;
  std::vector<individual> children;
  for (candidate_id id = 1; id <= 32; ++id)
    children.push_back(an_individual(id, static_cast<double>(id)));
  close_generation(s, children);
  for (const auto& order : s.ask())
    for (const auto& p : order.parents)
      CHECK(p.id > 28);
}
