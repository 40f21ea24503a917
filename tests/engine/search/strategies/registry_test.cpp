#include "engine/search/strategies/registry/islands.hpp"
#include "engine/search/strategies/registry/registry.hpp"
#include "engine/search/strategies/registry/validation.hpp"
#include "tests/support/small_space.hpp"

#include <catch2/catch.hpp>

#include <array>

using namespace clade;

namespace {

std::string traits_text(const strategy_row& row) {
  constexpr std::array<const char*, 4> rungs{"", " rungs by ratio", " rungs evenly",
                                             " a rung a generation"};
  constexpr std::array<const char*, 4> objectives{"", " any objectives",
                                                  " few objectives", " many objectives"};
  const auto& t = row.traits;
  std::string text(row.name);
  text += rungs[static_cast<std::size_t>(t.rungs)];
  text += objectives[static_cast<std::size_t>(t.objectives)];
  for (const auto& [has, name] :
       {std::pair{t.steady, " steady"}, std::pair{t.model, " model"},
        std::pair{t.scores, " scores"}, std::pair{t.selection, " selection"},
        std::pair{t.retunes, " retunes"}, std::pair{t.branches, " branches"},
        std::pair{row.parts != nullptr, " parts"}})
    text += has ? name : "";
  return text;
}

} // namespace

TEST_CASE("registry: what others need to know of each strategy") {
  std::string all;
  for (const auto& row : strategy_rows())
    all += traits_text(row) + "\n";
  CHECK(all
        == "random any objectives\n"
           "grid any objectives\n"
           "generational selection\n"
           "regularized steady\n"
           "envelopenets steady branches\n"
           "mu_plus_lambda\n"
           "differential_evolution\n"
           "cma_es\n"
           "surrogate any objectives steady model scores\n"
           "local_search steady\n"
           "tpe steady model\n"
           "map_elites steady\n"
           "islands parts\n"
           "nsga2 few objectives\n"
           "nsga3 many objectives\n"
           "successive_halving rungs by ratio any objectives\n"
           "hyperband rungs by ratio any objectives\n"
           "dehb rungs by ratio\n"
           "asha rungs by ratio any objectives steady\n"
           "multi_fidelity rungs by ratio any objectives steady model\n"
           "median_stopping rungs evenly any objectives steady\n"
           "population_based_training a rung a generation retunes\n");
}

TEST_CASE("registry: a name that is not in the table has no row and no traits") {
  for (const char* name : {"magic", "auto", ""}) {
    INFO(name);
    CHECK(row_of(name) == nullptr);
    CHECK_FALSE(starts_from_others({.strategy = name}));
    CHECK_FALSE(has_trait({.strategy = name}, &strategy_traits::model));
    const auto refused = check_space(name, small_space());
    REQUIRE_FALSE(refused);
    CHECK_THAT(refused.error().message, Catch::StartsWith("evolution.strategy is \""));
  }
  CHECK(row_of("asha")->name == "asha");
}

TEST_CASE("registry: islands have the traits of the strategies on them") {
  const auto model = &strategy_traits::model;
  CHECK(has_trait({.strategy = "multi_fidelity"}, model));
  CHECK_FALSE(has_trait({.strategy = "islands"}, model));
  CHECK(has_trait({.strategy = "islands",
                   .own = islands_params{.strategies = {"regularized", "tpe"}}},
                  model));
  CHECK_FALSE(has_trait(
      {.strategy = "islands", .own = islands_params{.strategies = {"magic"}}}, model));
}
