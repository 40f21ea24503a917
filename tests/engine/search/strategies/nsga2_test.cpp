#include "engine/search/strategies/evolution/nsga2.hpp"
#include "tests/engine/search/pareto_problems.hpp"
#include "tests/engine/search/toy_world.hpp"

#include <catch2/catch.hpp>

using namespace clade;

namespace {

individual weighed(candidate_id id, double a, double b, double violation = 0) {
  return {.id = id,
          .genome = toy_genome(0),
          .fitness = {
              .ok = true, .primary = a, .objectives = {a, b}, .violation = violation}};
}

/// Who survives of a first generation.
std::string survivors(const std::vector<individual>& told, std::size_t population) {
  evolution_params params{.strategy = "nsga2", .population = population};
  nsga2 search(params, 1);
  for (const auto& i : told) {
    search.born({.id = i.id});
    search.tell(i);
  }
  REQUIRE(search.closing().has_value());
  search.close();
  std::string text;
  for (const auto& i : search.population())
    text += (text.empty() ? "#" : " #") + std::to_string(i.id);
  return text;
}

} // namespace

TEST_CASE("nsga2: fronts come in order, and in a front its ends and the lonely first") {
  // #1 .. #5 are the front, with #3 and #4 close together; #6 is behind it.
  CHECK(survivors({weighed(1, 0, 10), weighed(2, 10, 0), weighed(3, 5, 5),
                   weighed(4, 5.5, 4.5), weighed(5, 2, 8), weighed(6, 1, 1)},
                  6)
        == "#2 #1 #4 #5 #3 #6");
}

TEST_CASE("nsga2: the feasible come first and then those that miss by less") {
  CHECK(survivors({weighed(1, 9, 9, 0.5), weighed(2, 1, 1), weighed(3, 0, 0, 0.1),
                   weighed(4, 2, 0)},
                  4)
        == "#4 #2 #3 #1");
}

TEST_CASE("nsga2: parents stay beside children until those are better") {
  evolution_params params{.strategy = "nsga2", .population = 2, .generations = 3};
  nsga2 search(params, 1);
  for (const auto& i : {weighed(1, 0, 1), weighed(2, 1, 0)}) {
    search.born({.id = i.id});
    search.tell(i);
  }
  search.close();
  for (const auto& i : {weighed(3, 2, 0), weighed(4, -1, 0.5)}) {
    search.born({.id = i.id});
    search.tell(i);
  }
  search.close();
  const auto stayed = search.population();
  REQUIRE(stayed.size() == 2);
  CHECK(stayed[0].id == 3);
  CHECK(stayed[1].id == 1);
}

TEST_CASE("nsga2: finds more of the front of ZDT1 than random search, over seeds") {
  int better = 0;
  double found = 0, random = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const auto reached = [&](const char* strategy) {
      return hypervolume_of(simulate(zdt1().run(strategy, seed, 20, 25)), 2, 5);
    };
    const auto ours = reached("nsga2"), theirs = reached("random");
    found += ours / 10;
    random += theirs / 10;
    better += ours > theirs ? 1 : 0;
  }
  INFO("nsga2 " << found << ", random " << random << ", of 24.67");
  CHECK(better == 10);
  CHECK(found > 22.5);
}

TEST_CASE("nsga2: a constraint is kept to, and less is searched where it is broken") {
  auto run = zdt1().run("nsga2", 3, 20, 20);
  run.rules.objective.constraints = {{.metric = "f0", .limit = 0.3}};
  const auto searched = simulate(run);
  for (const auto& one : searched.state.search->population()) {
    CHECK(one.fitness.violation == 0);
    CHECK(one.fitness.objectives[0] >= -0.3);
  }
  CHECK(searched.state.best.front().fitness.violation == 0);
}
