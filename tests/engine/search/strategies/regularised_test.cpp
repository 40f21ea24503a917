#include "engine/search/strategies/evolution/regularised.hpp"
#include "engine/search/strategies/registry/registry.hpp"
#include "tests/engine/search/toy_world.hpp"

#include <catch2/catch.hpp>

using namespace clade;

namespace {

evolution_params four_in_a_window_of_two(const std::string& tell_order) {
  return {.strategy = "regularized",
          .population = 4,
          .generations = 3,
          .tournament = 2,
          .crossover = 0,
          .tell_order = tell_order,
          .in_flight = 2};
}

std::vector<candidate_id> bear_all(strategy& s) {
  std::vector<candidate_id> ids;
  for (const auto& order : s.ask()) {
    s.born(a_candidate(order.id));
    ids.push_back(order.id);
  }
  return ids;
}

} // namespace

TEST_CASE("regularised: so many are open at a time and one is asked as one is heard") {
  const auto search = *make_strategy(four_in_a_window_of_two("asked"), 1);
  strategy& s = *search;
  CHECK(bear_all(s) == std::vector<candidate_id>{1, 2});
  CHECK(s.ask().empty());
  s.tell(an_individual(1, 0.1));
  CHECK(bear_all(s) == std::vector<candidate_id>{3});
}

TEST_CASE("regularised: as asked a result that comes early is kept back") {
  const auto search = *make_strategy(four_in_a_window_of_two("asked"), 1);
  strategy& s = *search;
  bear_all(s);
  s.tell(an_individual(2, 0.9));
  CHECK(s.ask().empty());
  CHECK(s.population().empty());
  s.tell(an_individual(1, 0.1));
  CHECK(to_text(s.population()) == "#2=0.9 #1=0.1");
  CHECK(bear_all(s) == std::vector<candidate_id>{3, 4});
}

TEST_CASE("regularised: as arrived a result is heard at once") {
  const auto search = *make_strategy(four_in_a_window_of_two("arrived"), 1);
  strategy& s = *search;
  bear_all(s);
  s.tell(an_individual(2, 0.9));
  CHECK(to_text(s.population()) == "#2=0.9");
  CHECK(bear_all(s) == std::vector<candidate_id>{3});
}

TEST_CASE("regularised: the oldest dies however fit it is") {
  const auto search = *make_strategy(four_in_a_window_of_two("asked"), 1);
  strategy& s = *search;
  for (candidate_id id = 1; id <= 4; ++id) {
    bear_all(s);
    s.tell(an_individual(id, id == 1 ? 1.0 : static_cast<double>(id) / 10));
  }
  CHECK(to_text(s.population()) == "#1=1.0 #4=0.4 #3=0.3 #2=0.2");
  REQUIRE(s.closing());
  s.close();
  bear_all(s);
  s.tell(an_individual(5, 0.01));
  CHECK(to_text(s.population()) == "#4=0.4 #3=0.3 #2=0.2 #5=0.01");
}

TEST_CASE("regularised: a generation closes before results beyond it are heard") {
  for (const auto* order : {"asked", "arrived"}) {
    INFO(order);
    const auto search = *make_strategy(four_in_a_window_of_two(order), 1);
    strategy& s = *search;
    for (candidate_id id = 1; id <= 3; ++id) {
      bear_all(s);
      s.tell(an_individual(id, static_cast<double>(id) / 10));
    }
    CHECK(bear_all(s) == std::vector<candidate_id>{5});
    s.tell(an_individual(4, 0.4));
    s.tell(an_individual(5, 0.5));
    REQUIRE(s.closing());
    CHECK(s.closing()->survivors == std::vector<candidate_id>{4, 3, 2, 1});
    CHECK(s.generation() == 0);
    s.close();
    CHECK(s.generation() == 1);
    CHECK_FALSE(s.closing());
    CHECK(to_text(s.population()) == "#5=0.5 #4=0.4 #3=0.3 #2=0.2");
    CHECK(bear_all(s) == std::vector<candidate_id>{6, 7});
  }
}

TEST_CASE(
    "regularised: the first population is sampled and the rest is bred of the living") {
  const auto s = simulate(toy_simulation(toy_rules("regularized")));
  for (const auto& r : s.records)
    if (const auto* b = std::get_if<candidate_born>(&r)) {
      CHECK(b->born.parents.empty() == (b->born.id <= 8));
      for (const auto p : b->born.parents) {
        CHECK(p + 3 <= b->born.id);    // Heard before the order was given,
        CHECK(p + 8 + 3 > b->born.id); // and not dead then.
      }
    }
}
