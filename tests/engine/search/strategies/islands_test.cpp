#include "engine/search/strategies/registry/islands.hpp"
#include "engine/search/strategies/registry/registry.hpp"
#include "engine/search/strategies/registry/validation.hpp"
#include "tests/engine/search/real_world.hpp"
#include "tests/engine/search/toy_world.hpp"

#include <catch2/catch.hpp>

#include <map>
#include <set>

using namespace clade;

namespace {

evolution_params archipelago(std::vector<std::string> strategies,
                             std::string topology = "ring") {
  return {.strategy = "islands",
          .population = 12,
          .generations = 10,
          .in_flight = 6,
          .own = islands_params{.strategies = std::move(strategies),
                                .topology = std::move(topology),
                                .migration = 5}};
}

double sum_of_choices(const genome& g) {
  double sum = 0;
  for (const auto& s : g.hyperparameters)
    sum += static_cast<double>(std::get<std::int64_t>(s.value));
  return sum;
}

simulated run_of(const evolution_params& params, std::uint64_t seed = 1) {
  return simulate(real_simulation(params, seed, space_of_choices(6, 6), sum_of_choices));
}

/// From which island to which candidates have parents, where they differ.
std::set<std::pair<std::size_t, std::size_t>> crossings(const simulated& run,
                                                        std::size_t islands) {
  std::set<std::pair<std::size_t, std::size_t>> ways;
  for (const auto& c : trained(run))
    for (const auto p : c.parents)
      if ((p - 1) % islands != (c.id - 1) % islands)
        ways.emplace((p - 1) % islands, (c.id - 1) % islands);
  return ways;
}

} // namespace

TEST_CASE("islands: a number stands for so many of regularised evolution") {
  CHECK(island_strategies(archipelago({"3"}))
        == std::vector<std::string>(3, "regularized"));
  CHECK(island_strategies(archipelago({"tpe", "random"}))
        == std::vector<std::string>{"tpe", "random"});
  const auto own = island_params(archipelago({"3"}), "regularized");
  CHECK(own.population == 4);
  CHECK(own.in_flight == 2);
  CHECK(own.tournament == 3);
  CHECK(own.generations == 10);
}

TEST_CASE(
    "islands: in a ring the best goes to the next island, and in a star by the hub") {
  using ways = std::set<std::pair<std::size_t, std::size_t>>;
  CHECK(crossings(run_of(archipelago({"3"})), 3).contains({0, 1}));
  // Regularised evolution breeds what it was sent: what is handed on comes from further.
  const auto in_star = crossings(run_of(archipelago({"3"}, "star")), 3);
  CHECK(in_star.contains({1, 0}));
  CHECK(in_star.contains({0, 2}));
  auto alone = archipelago({"3"});
  alone.own.of<islands_params>().migration = 0;
  CHECK(crossings(run_of(alone), 3) == ways{});
}

TEST_CASE("islands: a strategy that takes no migrants is given their genomes") {
  const auto run = run_of(archipelago({"regularized", "generational"}));
  std::map<candidate_id, candidate> born;
  std::size_t given = 0;
  for (const auto& r : run.records)
    if (const auto* b = std::get_if<candidate_born>(&r)) {
      born[b->born.id] = b->born;
      if (!to_text(b->born.changes).starts_with("migrated"))
        continue;
      ++given;
      CHECK(b->born.id % 2 == 0);       // It is of the second island,
      CHECK(b->born.equal_to % 2 == 1); // its evaluation copied from the first.
      CHECK(b->born.network == born.at(b->born.equal_to).network);
      CHECK(to_text(b->born.changes)
            == "migrated from island 1, where it is #"
                   + std::to_string(b->born.equal_to));
    }
  CHECK(given >= 3);
  CHECK(run.state.evaluated == 120);
}

TEST_CASE(
    "islands: every strategy searches its share, and none draws what another does") {
  const auto run = run_of(archipelago({"regularized", "tpe", "local_search", "random"}));
  std::map<std::size_t, std::size_t> share;
  std::set<genome_hash> networks;
  for (const auto& r : run.records)
    if (const auto* b = std::get_if<candidate_born>(&r)) {
      ++share[(b->born.id - 1) % 4];
      networks.insert(b->born.network);
      if (to_text(b->born.changes) == "proposed by TPE")
        CHECK((b->born.id - 1) % 4 == 1);
    }
  for (const auto& [island, count] : share)
    CHECK(count == 30);
  CHECK(networks.size() > 110);
}

TEST_CASE("islands: the survivors are those of all islands, each once, best first") {
  const auto run = run_of(archipelago({"3"}));
  const auto all = run.state.search->population();
  std::set<candidate_id> ids;
  for (std::size_t i = 0; i < all.size(); ++i) {
    CHECK(ids.insert(all[i].id).second);
    CHECK(all[i].id <= 120);
    if (i > 0)
      CHECK(fitter(all[i - 1], all[i]));
  }
  CHECK(all.size() > 4);
}

TEST_CASE("islands: weights are inherited from the training of a parent's network") {
  auto params = archipelago({"3"});
  params.inherit = true;
  const auto run =
      simulate(real_simulation(params, 1, space_of_choices(2, 4), sum_of_choices));
  std::map<candidate_id, candidate> born;
  std::size_t of_copies = 0;
  for (const auto& r : run.records)
    if (const auto* b = std::get_if<candidate_born>(&r)) {
      const auto& c = born[b->born.id] = b->born;
      if (c.start == 0)
        continue;
      REQUIRE_FALSE(c.parents.empty());
      const auto& parent = born.at(c.parents[0]);
      CHECK(c.start == (parent.equal_to != 0 ? parent.equal_to : parent.id));
      of_copies += parent.equal_to != 0 ? 1 : 0;
    }
  CHECK(of_copies > 0);
}

TEST_CASE("islands: migration helps islands of hill climbers on one hill") {
  double joined = 0, apart = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    auto params = archipelago({"4"});
    joined += best_curve(run_of(params, seed)).back();
    params.own.of<islands_params>().migration = 0;
    apart += best_curve(run_of(params, seed)).back();
  }
  CAPTURE(joined, apart);
  CHECK(joined > apart);
}

TEST_CASE("islands: as results arrive, a search with stragglers still ends") {
  auto params = archipelago({"regularized", "generational", "tpe"}, "star");
  params.tell_order = "arrived";
  for (std::uint64_t order = 1; order <= 10; ++order) {
    auto s = real_simulation(params, 1, space_of_choices(6, 6), sum_of_choices);
    s.pick = shuffled(order);
    const auto run = simulate(s);
    CHECK(run.state.evaluated == 120);
    CHECK(run.state.generations.size() == 10);
  }
}

TEST_CASE("islands: they are extended together, and a person's genome finds a place") {
  const auto search = *make_strategy(archipelago({"3"}), 1, space_of_choices(1, 9));
  const auto finish = [&](candidate_id from, candidate_id to) {
    for (auto id = from; id <= to; ++id) {
      const auto orders = search->ask(0, 1);
      REQUIRE(orders.size() == 1);
      REQUIRE(orders[0].id == id);
      search->born(a_candidate(id));
      search->tell(an_individual(id, 0.5));
      while (search->closing())
        search->close();
    }
  };
  finish(1, 119);
  search->extend(1);
  CHECK(search->give(toy_genome(3), "added"));
  finish(120, 131);
  REQUIRE(search->ask().size() == 1);
  finish(132, 132);
  CHECK(search->finished());
  CHECK_FALSE(search->give(toy_genome(3), "added"));
}

TEST_CASE("islands: they change together and go on counting") {
  const auto space = space_of_choices(1, 9);
  const auto search = *make_strategy(archipelago({"3"}), 1, space);
  candidate_id id = 1;
  const auto one_more = [&] {
    search->born(a_candidate(id));
    search->tell(an_individual(id++, 0.5));
  };
  while (id <= 12)
    one_more();
  CHECK_FALSE(search->change(archipelago({"2"}), 2)); // Others.
  search->close();
  auto larger = archipelago({"3"});
  larger.population = 24;
  CHECK(search->change(larger, 2));
  while (id <= 36)
    one_more();
  REQUIRE(search->closing());
  CHECK(search->closing()->generation == 1);
  one_more();
  CHECK_FALSE(search->change(larger, 3)); // In the midst of a generation.
}

TEST_CASE("islands: what they cannot be is said in a sentence") {
  const auto message = [](const evolution_params& p) {
    const auto valid = validate(p);
    return valid ? "" : valid.error().message;
  };
  CHECK(message(archipelago({"3"})).empty());
  CHECK(message(archipelago({"5"}))
        == "evolution.population is 12: it must be a multiple of the 5 islands");
  CHECK(message(archipelago({}))
        == "evolution.islands is empty: name a strategy for each island, or write how "
           "many there are");
  CHECK(message(archipelago({"0"})).starts_with("evolution.islands is empty"));
  CHECK(message(archipelago({"tpe", "magic"}))
            .starts_with("evolution.islands is \"magic\": it must be one of \"random\""));
  CHECK(message(archipelago({"islands", "tpe"}))
            .starts_with("evolution.islands is \"islands\": it must be one of"));
  CHECK(message(archipelago({"3"}, "web"))
        == "evolution.topology is \"web\": it must be one of \"ring\", \"star\"");
  const auto refused =
      check_strategy(archipelago({"tpe", "map_elites"}), *space_of_choices(2, 2));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message.starts_with("evolution.strategy = \"map_elites\""));
}
