#include "tests/engine/search/number_world.hpp"

#include "engine/search/strategies/registry/validation.hpp"
#include "genome/genes/unit_cube.hpp"
#include "tests/engine/search/toy_world.hpp"

#include <catch2/catch.hpp>

namespace clade {

search_space number_world::space() const {
  search_space s;
  s.name = "numbers.toml";
  s.rules.hyperparameters = parameters;
  s.rules.max_nodes = 0;
  s.rules.max_skips = 0;
  s.rules.initial_nodes = 0;
  return s;
}

simulation number_world::run(const evolution_params& params, std::uint64_t seed) const {
  simulation s;
  s.rules.evolution = params;
  s.rules.seed = seed;
  s.rules.space = std::make_shared<const search_space>(space());
  REQUIRE(check_strategy(params, *s.rules.space).has_value());
  s.breed = [rules = s.rules](const breeding& order) {
    const problem p{.input = {{4}}, .outputs = 2};
    const auto made =
        breed({*rules.space, p, rules.evolution.mutation, rules.seed}, order);
    REQUIRE(made.has_value());
    REQUIRE(check(rules.space->rules, *made->genome).has_value());
    return *made;
  };
  s.evaluate = [*this](const candidate& c) {
    return a_success(c.id, accuracy(to_unit(parameters, c.genome->hyperparameters)));
  };
  return s;
}

double number_world::best_of(const evolution_params& params, std::uint64_t seed) const {
  return simulate(run(params, seed)).state.best.front().fitness.primary;
}

std::vector<parameter> reals(std::size_t count) {
  std::vector<parameter> all;
  for (std::size_t i = 0; i < count; ++i)
    all.push_back(
        {.name = "x" + std::to_string(i), .domain = real_domain{.low = -5, .high = 5}});
  return all;
}

} // namespace clade
