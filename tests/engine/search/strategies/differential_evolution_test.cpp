#include "engine/search/strategies/evolution/differential_evolution.hpp"
#include "engine/search/strategies/registry/registry.hpp"
#include "engine/search/strategies/registry/validation.hpp"
#include "genome/genes/unit_cube.hpp"
#include "tests/engine/search/number_world.hpp"
#include "tests/engine/search/toy_world.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <set>

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

/// Best at (0.3, 0.7, 0.3, ...).
double sphere(const std::vector<double>& point) {
  double sum = 0;
  for (std::size_t i = 0; i < point.size(); ++i)
    sum += (point[i] - (i % 2 == 0 ? 0.3 : 0.7)) * (point[i] - (i % 2 == 0 ? 0.3 : 0.7));
  return -sum;
}

void close_generation(strategy& s, const std::vector<individual>& children) {
  for (const auto& order : s.ask())
    s.born(a_candidate(order.id));
  for (const auto& c : children)
    s.tell(c);
  REQUIRE(s.closing());
  s.close();
}

std::vector<candidate_id> ids(const std::vector<individual>& of) {
  std::vector<candidate_id> all;
  for (const auto& i : of)
    all.push_back(i.id);
  return all;
}

} // namespace

TEST_CASE("differential evolution: a child takes its target's place if not worse") {
  const auto search = *make_strategy(params_of("differential_evolution", 4, 3), 1);
  strategy& s = *search;
  close_generation(s, {an_individual(1, 0.1), an_individual(4, 0.4),
                       an_individual(3, 0.3), an_individual(2, 0.2)});
  CHECK(to_text(s.population()) == "#4=0.4 #3=0.3 #2=0.2 #1=0.1");
  // 5 is the child of 1, and so on; 6 is no worse than 2, and 7 is worse than 3.
  close_generation(s, {an_individual(7, 0.29), an_individual(5, 0.05),
                       an_individual(6, 0.2), an_individual(8, 0.9)});
  CHECK(to_text(s.population()) == "#8=0.9 #3=0.3 #6=0.2 #1=0.1");
}

TEST_CASE("differential evolution: a failed one keeps its place for the next only") {
  const auto search = *make_strategy(params_of("differential_evolution", 5, 4), 1);
  strategy& s = *search;
  close_generation(s,
                   {a_failed_individual(1), an_individual(2, 0.2), an_individual(3, 0.3),
                    an_individual(4, 0.4), an_individual(5, 0.5)});
  CHECK(ids(s.population()) == std::vector<candidate_id>{5, 4, 3, 2});
  close_generation(s,
                   {an_individual(6, -1), a_failed_individual(7), a_failed_individual(8),
                    a_failed_individual(9), a_failed_individual(10)});
  CHECK(ids(s.population()) == std::vector<candidate_id>{5, 4, 3, 2, 6});
}

TEST_CASE("differential evolution: parents are the target first and three others") {
  const auto search = *make_strategy(params_of("differential_evolution", 6, 3), 1);
  strategy& s = *search;
  std::vector<individual> first;
  for (candidate_id id = 1; id <= 6; ++id)
    first.push_back(an_individual(id, static_cast<double>(id)));
  close_generation(s, first);
  for (const auto& order : s.ask()) {
    CHECK(order.how == breeding::kind::propose);
    const auto parents = ids(order.parents);
    REQUIRE(parents.size() == 4);
    CHECK(parents.front() == order.index + 1);
    CHECK(std::set<candidate_id>(parents.begin(), parents.end()).size() == 4);
  }
}

TEST_CASE("differential evolution: with too few that work children are sampled") {
  const auto search = *make_strategy(params_of("differential_evolution", 4, 3), 1);
  strategy& s = *search;
  close_generation(s, {a_failed_individual(1), a_failed_individual(2),
                       a_failed_individual(3), a_failed_individual(4)});
  for (const auto& order : s.ask())
    CHECK(order.how == breeding::kind::sample);
}

TEST_CASE("differential evolution: with fixed F and CR a child is the formula's") {
  auto params = params_of("differential_evolution", 4, 2);
  params.own.of<difference_params>().weight = 0.5;
  params.crossover = 1;
  const number_world world{.parameters = reals(2), .accuracy = sphere};
  const auto search = *make_strategy(params, 1);
  const std::vector<std::vector<double>> points = {
      {0.5, 0.5}, {0.4, 0.6}, {0.55, 0.5}, {0.5, 0.35}};
  std::vector<individual> first;
  for (candidate_id id = 1; id <= 4; ++id) {
    genome g = *toy_genome(0);
    g.hyperparameters = from_unit(world.parameters, points[id - 1]);
    auto i = an_individual(id, 0);
    i.genome = std::make_shared<const genome>(g);
    first.push_back(i);
  }
  close_generation(*search, first);
  const auto space = world.space();
  const problem p{.input = {{4}}, .outputs = 2};
  for (const auto& order : search->ask()) {
    const auto made = breed({space, p, params.mutation, 1}, order);
    REQUIRE(made.has_value());
    const auto child = to_unit(world.parameters, made->genome->hyperparameters);
    const auto& base = points[order.parents[1].id - 1];
    const auto& plus = points[order.parents[2].id - 1];
    const auto& minus = points[order.parents[3].id - 1];
    for (std::size_t i = 0; i < 2; ++i)
      CHECK(child[i] == Approx(base[i] + 0.5 * (plus[i] - minus[i])));
  }
}

TEST_CASE("differential evolution: it nears the best of a sphere as random cannot") {
  const number_world world{.parameters = reals(5), .accuracy = sphere};
  for (const char* base : {"random", "current_to_best"}) {
    auto params = params_of("differential_evolution", 15, 40);
    params.own.of<difference_params>().base = base;
    double found = 0, random = 0;
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      found += world.best_of(params, seed) / 5;
      random += world.best_of(params_of("random", 15, 40), seed) / 5;
    }
    INFO(base << " " << found << ", random " << random);
    CHECK(found > random / 20);
  }
}

TEST_CASE("differential evolution: choices without an order and conditions are served") {
  // Best with "c", the momentum that only "c" has at 0.9, and 5 of the whole numbers.
  const number_world world{
      .parameters =
          {{.name = "a", .domain = choice_domain{.options = {"a", "b", "c", "d", "e"}}},
           {.name = "momentum", .domain = real_domain{}, .when = condition{"a", {"c"}}},
           {.name = "n", .domain = integer_domain{.low = 1, .high = 9}}},
      .accuracy = [](const std::vector<double>& x) {
        const bool c = x[0] == 0.5;
        return (c ? 1 - std::abs(x[1] - 0.9) : 0) - std::abs(x[2] - 0.5);
      }};
  double found = 0, random = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    found += world.best_of(params_of("differential_evolution", 10, 15), seed) / 10;
    random += world.best_of(params_of("random", 10, 15), seed) / 10;
  }
  INFO(found << ", random " << random);
  CHECK(found > 0.98);
  CHECK(1 - found < (1 - random) / 2);
}

TEST_CASE("differential evolution: a fork may change the population either way") {
  for (const std::size_t population : {4U, 9U}) {
    const auto search = *make_strategy(params_of("differential_evolution", 6, 5), 1);
    strategy& s = *search;
    std::vector<individual> first;
    for (candidate_id id = 1; id <= 6; ++id)
      first.push_back(an_individual(id, -static_cast<double>(id)));
    close_generation(s, first);
    REQUIRE(s.change(params_of("differential_evolution", population, 5), 2));
    const auto orders = s.ask();
    REQUIRE(orders.size() == population);
    std::set<candidate_id> targets;
    for (const auto& order : orders)
      if (order.how == breeding::kind::propose)
        targets.insert(order.parents.front().id);
    CHECK(targets.size() == std::min<std::size_t>(population, 6));
    CHECK(*targets.rbegin() == std::min<std::size_t>(population, 6));
    std::vector<individual> next;
    for (const auto& order : orders)
      next.push_back(an_individual(order.id, 1));
    close_generation(s, next);
    CHECK(s.population().size() == population);
    CHECK(s.population().front().fitness.primary == 1);
  }
}

TEST_CASE("differential evolution: spaces that it cannot serve are told who can") {
  number_world world{.parameters = reals(1), .accuracy = sphere};
  const auto said = [&](const search_space& space) {
    const auto ok = check_strategy(params_of("differential_evolution", 8, 2), space);
    return ok ? "" : ok.error().message;
  };
  CHECK(said(world.space()).empty());
  auto layers = world.space();
  layers.rules.max_nodes = 3;
  layers.rules.operators = {{.name = "relu", .settings = {}}};
  CHECK(said(layers)
        == "evolution.strategy is \"differential_evolution\", which moves numbers alone, "
           "but the search space numbers.toml has layers to choose: take "
           "\"regularized\", \"generational\" or \"mu_plus_lambda\"");
  world.parameters = {{.name = "x", .domain = integer_domain{.low = 2, .high = 2}}};
  CHECK(said(world.space())
        == "evolution.strategy is \"differential_evolution\", which moves numbers alone, "
           "but the search space numbers.toml has no hyperparameter that varies: take "
           "\"random\"");
}
