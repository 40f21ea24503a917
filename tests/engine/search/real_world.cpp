#include "tests/engine/search/real_world.hpp"

#include "tests/engine/search/toy_world.hpp"
#include "tests/support/small_space.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>

namespace clade {

std::shared_ptr<const search_space> space_of(std::vector<parameter> hyperparameters) {
  search_space s;
  s.name = "numbers.toml";
  s.rules.hyperparameters = std::move(hyperparameters);
  s.rules.max_nodes = s.rules.max_skips = s.rules.initial_nodes = 0;
  return std::make_shared<const search_space>(std::move(s));
}

std::shared_ptr<const search_space> space_of_choices(std::size_t count,
                                                     std::int64_t options) {
  std::vector<parameter> parameters;
  for (std::size_t i = 0; i < count; ++i) {
    choice_domain list;
    for (std::int64_t o = 0; o < options; ++o)
      list.options.emplace_back(o);
    parameters.push_back(
        {.name = "c" + std::to_string(i), .domain = std::move(list), .when = {}});
  }
  return space_of(std::move(parameters));
}

simulation real_simulation(const evolution_params& evolution, std::uint64_t seed,
                           std::shared_ptr<const search_space> space,
                           const std::function<double(const genome&)>& fitness) {
  simulation s;
  s.rules.evolution = evolution;
  s.rules.seed = seed;
  s.rules.space = space;
  s.breed = [space, evolution, seed](const breeding& order) {
    auto made = breed({*space, small_problem(), evolution.mutation, seed}, order);
    if (!made)
      FAIL(made.error().message);
    if (const auto ok = check(space->rules, *made->genome); !ok)
      FAIL(ok.error().message);
    return std::move(*made);
  };
  s.evaluate = [space, fitness](const candidate& c) {
    const auto value = fitness(*c.genome);
    auto e = std::isnan(value) ? a_failure(c.id) : a_success(c.id, value);
    e.parameters = decode(*space, *c.genome, small_problem())->cost().parameters;
    return e;
  };
  return s;
}

double number(const genome& g, std::string_view hyperparameter) {
  const auto* v = find(g.hyperparameters, hyperparameter);
  REQUIRE(v != nullptr);
  if (const auto* whole = std::get_if<std::int64_t>(v))
    return static_cast<double>(*whole);
  return std::get<double>(*v);
}

std::vector<double> best_curve(const simulated& run) {
  std::vector<double> curve;
  for (const auto& r : run.records)
    if (const auto* e = std::get_if<candidate_evaluated>(&r)) {
      const auto found = find(e->evaluated.metrics, "validation.accuracy");
      const auto before =
          curve.empty() ? -std::numeric_limits<double>::infinity() : curve.back();
      curve.push_back(std::max(before, found.value_or(before)));
    }
  return curve;
}

std::vector<candidate> trained(const simulated& run) {
  std::vector<candidate> all;
  for (const auto& r : run.records)
    if (const auto* b = std::get_if<candidate_born>(&r); b && b->born.equal_to == 0)
      all.push_back(b->born);
  return all;
}

} // namespace clade
