#include "engine/search/strategies/evolution/local_search.hpp"
#include "tests/engine/search/real_world.hpp"
#include "tests/engine/search/toy_world.hpp"
#include "tests/support/small_space.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <set>

using namespace clade;

namespace {

evolution_params climbing(std::size_t evaluations, std::size_t in_flight) {
  return {.strategy = "local_search",
          .population = 10,
          .generations = evaluations / 10,
          .in_flight = in_flight};
}

/// One hill, of unordered choices.
double hill(const genome& g) {
  double sum = 0;
  for (std::size_t i = 0; i < 5; ++i)
    sum -= std::abs(number(g, "c" + std::to_string(i)) - static_cast<double>(i % 4));
  return sum;
}

/// A local optimum wherever all choices are alike, the best where they are 2.
double plateaus(const genome& g) {
  std::map<double, int> alike;
  for (std::size_t i = 0; i < 4; ++i)
    ++alike[number(g, "c" + std::to_string(i))];
  double best = 0;
  for (const auto& [choice, count] : alike)
    best = std::max(best, count + (choice == 2 ? 0.5 : 0.0));
  return best;
}

std::size_t changes(const genome& a, const genome& b) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < a.hyperparameters.size(); ++i)
    count += a.hyperparameters[i] == b.hyperparameters[i] ? 0 : 1;
  return count;
}

} // namespace

TEST_CASE("local search: a hill of 1024 settings is climbed in 60 evaluations") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed)
    for (const std::size_t in_flight : {1U, 4U}) {
      const auto run = simulate(
          real_simulation(climbing(60, in_flight), seed, space_of_choices(5, 4), hill));
      CHECK(best_curve(run).at(59) == 0);
    }
}

TEST_CASE(
    "local search: each of one in flight is a neighbour of the best of its descent") {
  const auto run =
      simulate(real_simulation(climbing(150, 1), 3, space_of_choices(4, 5), plateaus));
  const auto all = trained(run);
  REQUIRE(all.size() == 150);
  std::size_t starts = 0;
  candidate_id centre = 0;
  const auto fitness = [&](candidate_id id) { return plateaus(*all[id - 1].genome); };
  std::size_t around = 0;
  for (const auto& c : all) {
    if (c.parents.empty()) {
      // The whole neighbourhood of 16 was seen before, now or in another descent.
      if (centre != 0) {
        std::set<std::string> seen;
        for (const auto& before : all)
          if (before.id < c.id && changes(*before.genome, *all[centre - 1].genome) == 1)
            seen.insert(to_text(before.genome->hyperparameters));
        CHECK(seen.size() == 16);
      }
      ++starts;
      centre = c.id;
      around = 0;
    } else {
      CHECK(c.parents == std::vector<candidate_id>{centre});
      CHECK(changes(*c.genome, *all[centre - 1].genome) == 1);
      ++around;
      if (fitness(c.id) > fitness(centre)) {
        centre = c.id;
        around = 0;
      }
      CHECK(around <= 16);
    }
  }
  CHECK(starts > 3);
  CHECK(best_curve(run).back() == 4.5);
  for (const auto& i : run.state.search->population())
    CHECK(i.fitness.ok);
  CHECK(run.state.search->population().size() > 3);
}

TEST_CASE("local search: no network is evaluated twice, whatever is in flight") {
  for (const std::size_t in_flight : {1U, 3U, 10U}) {
    auto s =
        real_simulation(climbing(200, in_flight), 1, space_of_choices(4, 4), plateaus);
    s.pick = shuffled(in_flight);
    const auto run = simulate(s);
    std::set<genome_hash> networks;
    for (const auto& c : trained(run))
      CHECK(networks.insert(c.network).second);
    CHECK(networks.size() > 190);
  }
}

TEST_CASE("local search: failures are never climbed from") {
  const auto fails = [](const genome& g) {
    return number(g, "c0") == 1 ? std::numeric_limits<double>::quiet_NaN() : hill(g);
  };
  const auto run =
      simulate(real_simulation(climbing(100, 3), 1, space_of_choices(5, 4), fails));
  std::set<candidate_id> failed;
  for (const auto& c : trained(run)) {
    if (number(*c.genome, "c0") == 1)
      failed.insert(c.id);
    for (const auto p : c.parents)
      CHECK_FALSE(failed.contains(p));
  }
  CHECK(failed.size() > 3);
}

TEST_CASE("local search: in a space of layers, graph and settings change one at a time") {
  const auto space = std::make_shared<const search_space>(small_space());
  // The more nodes, the better, and the smaller the batch.
  const auto wants_nodes = [](const genome& g) {
    return static_cast<double>(g.nodes.size()) - number(g, "batch_size") / 1000;
  };
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const auto run =
        simulate(real_simulation(climbing(300, 2), seed, space, wants_nodes));
    std::set<change_kind> kinds;
    for (const auto& c : trained(run))
      if (!c.parents.empty()) {
        CHECK(c.changes.size() == 1);
        kinds.insert(c.changes.front().kind);
      }
    CHECK(kinds.contains(change_kind::add_node));
    CHECK(kinds.contains(change_kind::change_hyperparameter));
    CHECK(best_curve(run).back() > 9.5);
  }
}

TEST_CASE("local search: with one in flight it decides alike from its fold") {
  auto rules = toy_rules("local_search");
  rules.evolution.in_flight = 1;
  const auto whole = simulate(toy_simulation(rules));
  for (std::size_t stop = 0; stop < whole.records.size(); ++stop) {
    const auto resumed =
        simulate(toy_simulation(rules),
                 {whole.records.begin(),
                  whole.records.begin() + static_cast<std::ptrdiff_t>(stop)});
    REQUIRE(resumed.state.digest == whole.state.digest);
  }
}

TEST_CASE("local search: beats random search on one hill and on several") {
  for (const auto& fitness : {hill, plateaus}) {
    double climbed = 0, drawn = 0;
    for (std::uint64_t seed = 1; seed <= 30; ++seed) {
      auto random = climbing(60, 4);
      random.strategy = "random";
      const auto space = space_of_choices(5, 4);
      climbed +=
          best_curve(simulate(real_simulation(climbing(60, 4), seed, space, fitness)))
              .back();
      drawn += best_curve(simulate(real_simulation(random, seed, space, fitness))).back();
    }
    CHECK(climbed > drawn);
  }
}
