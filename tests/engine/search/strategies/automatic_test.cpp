#include "engine/search/strategies/registry/automatic.hpp"
#include "engine/search/strategies/registry/validation.hpp"
#include "tests/engine/search/toy_world.hpp"

#include <catch2/catch.hpp>

using namespace clade;

namespace {

const std::vector<std::string> all = {"random",    "generational",  "regularized",
                                      "nsga2",     "nsga3",         "asha",
                                      "surrogate", "multi_fidelity"};

search_space layered() {
  auto space = toy_world{}.space();
  space.rules.max_nodes = 4;
  space.rules.operators = {{.name = "relu", .settings = {}}};
  return space;
}

std::string chosen(const search_task& task, const search_space& space,
                   const std::vector<std::string>& available) {
  evolution_params params;
  params.strategy = "auto";
  return choose_strategy(params, space, task, available).params.strategy;
}

} // namespace

TEST_CASE("auto: several objectives go before all else") {
  const auto numbers = toy_world{}.space();
  CHECK(chosen({.objectives = 2, .fidelities = true, .budget = 10}, numbers, all)
        == "surrogate");
  CHECK(chosen({.objectives = 3, .budget = 2'000}, layered(), all) == "surrogate");
  CHECK(chosen({.objectives = 3, .budget = 2'001}, layered(), all) == "nsga2");
  CHECK(chosen({.objectives = 4, .budget = 2'000}, layered(), all) == "nsga3");
  CHECK(chosen({.objectives = 4, .budget = 5'000}, layered(), all) == "nsga3");
  CHECK(chosen({.objectives = 4, .budget = 5'000}, numbers, {"nsga2", "regularized"})
        == "nsga2");
}

TEST_CASE("auto: rungs are used whatever the space is") {
  for (const auto& space : {toy_world{}.space(), layered()}) {
    CHECK(chosen({.fidelities = true, .budget = 19}, space, all) == "asha");
    CHECK(chosen({.fidelities = true, .budget = 500}, space, all) == "multi_fidelity");
    CHECK(chosen({.fidelities = true, .budget = 2'001}, space, all) == "asha");
  }
}

TEST_CASE("auto: otherwise the budget decides") {
  for (const auto& space : {toy_world{}.space(), layered()}) {
    CHECK(chosen({.budget = 19}, space, all) == "random");
    CHECK(chosen({.budget = 19, .seeds = true}, space, all) == "regularized");
    CHECK(chosen({.budget = 20}, space, all) == "surrogate");
    CHECK(chosen({.budget = 2'000}, space, all) == "surrogate");
    CHECK(chosen({.budget = 2'001}, space, all) == "regularized");
    CHECK(chosen({.budget = 100}, space, {"random", "generational", "regularized"})
          == "regularized");
    CHECK(chosen({.objectives = 2, .fidelities = true, .budget = 100}, space,
                 {"random", "regularized"})
          == "regularized");
  }
}

TEST_CASE("auto: what it says is a reason that names the choice") {
  const auto why = [](const search_task& task) {
    return choose_strategy({}, layered(), task, all).why;
  };
  CHECK(why({.objectives = 2, .budget = 5'000})
        == "nsga2: 2 objectives have no single best");
  CHECK(why({.objectives = 2, .budget = 240})
        == "surrogate: 2 objectives have no single best, and with 240 evaluations models "
           "that screen children save trainings");
  CHECK(why({.budget = 1}) == "random: 1 evaluation is too few to learn from");
  CHECK(why({.budget = 240})
        == "surrogate: with 240 evaluations a model that screens children saves "
           "trainings");
  CHECK(
      why({.budget = 5'000})
      == "regularized: for 5000 evaluations it is robust in any space and costs nothing "
         "beside them");
}

TEST_CASE("auto: what is chosen of the table is valid and serves the space") {
  for (const std::size_t population : {1U, 3U, 24U})
    for (const std::size_t generations : {1U, 10U, 1'000U})
      for (const std::size_t objectives : {1U, 2U, 5U})
        for (const bool rungs : {false, true})
          for (const auto& space : {toy_world{}.space(), layered()}) {
            evolution_params params;
            params.population = population;
            params.generations = generations;
            const auto choice = choose_strategy(params, space,
                                                {.objectives = objectives,
                                                 .fidelities = rungs,
                                                 .budget = population * generations});
            auto complete = choice.params;
            CHECK(complete_rungs(complete, 27).has_value());
            CHECK(check_strategy(complete, space).has_value());
            CHECK(choice.params.population == population);
            CHECK(choice.params.generations == generations);
          }
}
