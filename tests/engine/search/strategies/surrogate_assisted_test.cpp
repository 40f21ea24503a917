#include "engine/run/steps/next_step.hpp"
#include "engine/search/strategies/registry/registry.hpp"
#include "engine/search/strategies/sampling/surrogate_assisted.hpp"
#include "genome/genes/hash.hpp"
#include "tests/engine/search/pareto_problems.hpp"
#include "tests/engine/search/toy_world.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace clade;

namespace {

/// Eight choices among four words, of which each has one that counts, and the first four
/// the same.
search_space eight_choices() {
  search_space space;
  space.name = "choices";
  for (int i = 0; i < 8; ++i)
    space.rules.hyperparameters.push_back(
        {.name = "c" + std::to_string(i),
         .domain = choice_domain{.options = {std::string("a"), std::string("b"),
                                             std::string("c"), std::string("d")}}});
  space.rules.max_nodes = 0;
  space.rules.max_skips = 0;
  space.rules.initial_nodes = 0;
  return space;
}

double worth(const genome& g) {
  double sum = 0;
  for (int i = 0; i < 8; ++i) {
    const auto& word =
        std::get<std::string>(*find(g.hyperparameters, "c" + std::to_string(i)));
    const auto wanted = i < 4 ? "b" : std::string(1, static_cast<char>('a' + i % 4));
    sum += (word == wanted ? 1.0 : word == "d" ? -0.5 : 0.0) * (1 + 0.1 * i);
  }
  return sum;
}

/// The best worth after each evaluation.
std::vector<double> search_by(const std::string& strategy, std::uint64_t seed,
                              std::size_t in_flight) {
  auto rules = toy_rules(strategy, seed);
  const auto space = eight_choices();
  rules.space = std::make_shared<const search_space>(space);
  rules.evolution.population = 20;
  rules.evolution.generations = 3;
  rules.evolution.in_flight = in_flight;
  rules.evolution.tournament = 5;
  simulation s;
  s.rules = rules;
  s.breed = [&](const breeding& order) {
    auto made = breed({space, {.input = {{4}}, .outputs = 2}, {}, seed}, order);
    REQUIRE(made.has_value());
    return *made;
  };
  std::vector<double> best;
  s.evaluate = [&](const candidate& c) {
    const auto found = worth(*c.genome);
    best.push_back(best.empty() ? found : std::max(best.back(), found));
    return a_success(c.id, found);
  };
  (void)simulate(s);
  return best;
}

} // namespace

TEST_CASE("surrogate: a model finds in 60 evaluations what evolution does not") {
  double guided = 0, evolved = 0, several = 0;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    guided += search_by("surrogate", seed, 1).back();
    several += search_by("surrogate", seed, 4).back();
    evolved += search_by("regularized", seed, 1).back();
  }
  CHECK(guided > evolved);
  CHECK(several > evolved);
}

TEST_CASE(
    "surrogate: a child says which of the best it comes from and what was changed") {
  auto rules = toy_rules("surrogate");
  const auto space = eight_choices();
  rules.space = std::make_shared<const search_space>(space);
  const auto search = *make_strategy(rules.evolution, 1, rules.space);
  std::vector<candidate> born;
  for (candidate_id id = 1; id <= 20; ++id) {
    const auto orders = search->ask(id - 1, 1);
    REQUIRE(orders.size() == 1);
    const auto& order = orders.front();
    const auto made = breed({space, {.input = {{4}}, .outputs = 2}, {}, 1}, order);
    REQUIRE(made.has_value());
    CHECK(may_be_parents(order, made->parents));
    if (order.how == breeding::kind::propose && !made->parents.empty()) {
      CHECK(made->parents.size() <= 2);
      INFO(to_text(made->changes));
      CHECK((!mutation_kinds_of(made->changes).empty()
             || made->changes.front().kind == change_kind::crossed));
    }
    born.push_back(*made);
    search->born(*made);
    search->tell({.id = id,
                  .genome = made->genome,
                  .fitness = {.ok = true, .primary = worth(*made->genome)}});
    if (search->closing())
      search->close();
  }
  CHECK(std::ranges::any_of(born, [](const auto& c) { return !c.parents.empty(); }));
}

TEST_CASE("surrogate: of several objectives it finds more of a front than nsga2") {
  for (const auto& [problem, worst] : {std::pair{zdt1(), 5.0}, {dtlz2(3), 1.5}}) {
    double guided = 0, evolved = 0;
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      const auto reached = [&](const char* strategy) {
        return hypervolume_of(simulate(problem.run(strategy, seed, 20, 4)),
                              problem.objectives, worst);
      };
      guided += reached("surrogate");
      evolved += reached("nsga2");
    }
    INFO(problem.objectives << " objectives");
    CHECK(guided > evolved);
  }
}

TEST_CASE("surrogate: a constraint comes before objectives, one or two") {
  for (const bool two : {false, true}) {
    auto run = zdt1().run("surrogate", 2, 20, 4);
    if (!two)
      run.rules.objective.others.clear();
    run.rules.objective.constraints = {{.metric = "f1", .limit = 0.6}};
    run.rules.objective.constraints.push_back(
        {.metric = "f0", .limit = 0.2, .at_most = false});
    const auto searched = simulate(run);
    std::size_t kept_to = 0;
    for (const auto& one : searched.state.search->population())
      kept_to += one.fitness.ok && one.fitness.violation == 0 ? 1 : 0;
    INFO((two ? "two objectives" : "one objective"));
    // No random candidate does.
    CHECK(kept_to > (two ? 2 : 10));
  }
}

TEST_CASE("surrogate: an order does not depend on what came in early") {
  auto rules = toy_rules("surrogate");
  rules.evolution.in_flight = 3;
  const auto play = [&](bool early) {
    const auto search = *make_strategy(rules.evolution, 1, rules.space);
    std::vector<genome_hash> networks;
    const toy_world world;
    std::vector<candidate> waiting;
    for (candidate_id id = 1; id <= 24; ++id) {
      while (search->ask(id - 1, 1).empty() || (!early && waiting.size() == 3)) {
        REQUIRE_FALSE(waiting.empty());
        const auto c = waiting.front();
        waiting.erase(waiting.begin());
        search->tell({.id = c.id,
                      .genome = c.genome,
                      .fitness = fitness_of(world.evaluate(c), {})});
        if (search->closing())
          search->close();
      }
      const auto c = world.breed(1, search->ask(id - 1, 1).front());
      networks.push_back(c.network);
      search->born(c);
      waiting.push_back(c);
      if (early && waiting.size() > 1) {
        const auto first = waiting.front();
        waiting.erase(waiting.begin());
        search->tell({.id = first.id,
                      .genome = first.genome,
                      .fitness = fitness_of(world.evaluate(first), {})});
        if (search->closing())
          search->close();
      }
    }
    return networks;
  };
  CHECK(play(true) == play(false));
}
