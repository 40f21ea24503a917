#include "engine/search/core/selection.hpp"
#include "engine/search/strategies/evolution/map_elites.hpp"
#include "engine/search/strategies/registry/validation.hpp"
#include "tests/engine/search/real_world.hpp"
#include "tests/support/small_space.hpp"

#include <catch2/catch.hpp>

#include <map>
#include <set>

using namespace clade;

namespace {

evolution_params mapping(std::string strategy = "map_elites") {
  return {.strategy = std::move(strategy),
          .population = 20,
          .generations = 20,
          .tournament = 3,
          .in_flight = 4};
}

/// A trap: two nodes are best near by, eight are best of all.
double trap(const genome& g) {
  const auto nodes = static_cast<double>(g.nodes.size() - 2);
  return nodes == 8 ? 1 : 0.8 - 0.1 * std::abs(nodes - 2) + number(g, "learning_rate");
}

std::vector<individual> evaluated(const simulated& run) {
  std::map<candidate_id, std::shared_ptr<const genome>> genomes;
  std::vector<individual> all;
  for (const auto& r : run.records)
    if (const auto* b = std::get_if<candidate_born>(&r))
      genomes[b->born.id] = b->born.genome;
    else if (const auto* e = std::get_if<candidate_evaluated>(&r))
      all.push_back({e->evaluated.id, genomes.at(e->evaluated.id),
                     fitness_of(e->evaluated, run.state.rules.objective),
                     e->evaluated.parameters});
  return all;
}

} // namespace

TEST_CASE("map elites: the survivors are the fittest of each size and depth") {
  const auto space = std::make_shared<const search_space>(small_space());
  const auto run = simulate(real_simulation(mapping(), 1, space, trap));
  std::map<niche, individual> fittest;
  for (const auto& i : evaluated(run)) {
    const auto [there, fresh] = fittest.emplace(niche_of(i), i);
    if (!fresh && fitter(i, there->second))
      there->second = i;
  }
  std::vector<individual> expected;
  for (const auto& [where, i] : fittest)
    expected.push_back(i);
  sort_by_fitness(expected);
  CHECK(expected.size() > 20);
  CHECK(to_text(run.state.search->population()) == to_text(expected));
}

TEST_CASE("map elites: it fills more niches than regularised evolution") {
  const auto space = std::make_shared<const search_space>(small_space());
  std::size_t mapped = 0, aged = 0;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const auto niches = [&](const evolution_params& params) {
      std::set<niche> all;
      for (const auto& i :
           evaluated(simulate(real_simulation(params, seed, space, trap))))
        all.insert(niche_of(i));
      return all.size();
    };
    mapped += niches(mapping());
    aged += niches(mapping("regularized"));
  }
  CAPTURE(mapped, aged);
  CHECK(mapped > aged + aged / 4);
}

TEST_CASE("map elites: it gets out of a trap that holds regularised evolution") {
  const auto space = std::make_shared<const search_space>(small_space());
  int mapped = 0, aged = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    mapped +=
        best_curve(simulate(real_simulation(mapping(), seed, space, trap))).back() >= 1;
    aged +=
        best_curve(simulate(real_simulation(mapping("regularized"), seed, space, trap)))
            .back()
        >= 1;
  }
  CAPTURE(mapped, aged);
  CHECK(mapped >= 4);
  CHECK(mapped > aged);
}

TEST_CASE("map elites: a space without layers is refused in a sentence") {
  const auto refused = check_strategy(mapping(), *space_of_choices(2, 2));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message
        == "evolution.strategy = \"map_elites\" keeps the best of each size and depth, "
           "and numbers.toml has no layers; take \"regularized\" or \"tpe\"");
  CHECK(check_strategy(mapping(), small_space()));
}
