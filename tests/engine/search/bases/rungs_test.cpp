// Several fidelities: the rungs, and what holds for every strategy that climbs them.
#include "engine/search/bases/rungs.hpp"
#include "engine/search/strategies/registry/registry.hpp"
#include "engine/search/strategies/registry/validation.hpp"
#include "tests/engine/search/toy_world.hpp"
#include "tests/support/small_run.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <map>
#include <numeric>
#include <set>

using namespace clade;

namespace {

const std::vector<std::string> climbers{"successive_halving",
                                        "hyperband",
                                        "dehb",
                                        "asha",
                                        "multi_fidelity",
                                        "median_stopping",
                                        "population_based_training"};

std::map<candidate_id, candidate> born(const simulated& run) {
  std::map<candidate_id, candidate> all;
  for (const auto& r : run.records)
    if (const auto* b = std::get_if<candidate_born>(&r))
      all[b->born.id] = b->born;
  return all;
}

std::map<candidate_id, evaluation> evaluations(const simulated& run) {
  std::map<candidate_id, evaluation> all;
  for (const auto& r : run.records)
    if (const auto* e = std::get_if<candidate_evaluated>(&r))
      all[e->evaluated.id] = e->evaluated;
  return all;
}

bool goes_on(const candidate& c) {
  return c.start != 0;
}

/// The best full training, of 27 epochs, that a search has found after so many epochs in
/// all, over the small space with the synthetic fitness.
double best_after(const std::string& strategy, std::uint64_t epochs, std::uint64_t seed) {
  run_rules rules;
  rules.evolution = {.strategy = strategy, .population = 12, .generations = 200};
  rules.seed = seed;
  rules.space = std::make_shared<const search_space>(small_space());
  REQUIRE(complete_rungs(rules.evolution, 27));
  auto search = small_run(rules, {.epochs = 27});
  std::uint64_t spent = 0;
  double best = 0;
  search.evaluate = [&, evaluate = search.evaluate](const candidate& c) {
    if (spent >= epochs)
      return evaluation{.id = c.id, .outcome = outcome::dropped};
    auto e = evaluate(c);
    spent += e.curve.size();
    if (c.epochs == 0 || c.epochs == 27)
      best = std::max(best, find(e.metrics, "validation.accuracy").value_or(0));
    return e;
  };
  std::ignore = simulate(search, {}, 2 * epochs);
  REQUIRE(spent >= epochs);
  return best;
}

} // namespace

TEST_CASE("rungs: each is a reduction below the next, down to one epoch") {
  using rungs = std::vector<std::uint32_t>;
  CHECK(rungs_of(15, 3) == rungs{2, 5, 15});
  CHECK(rungs_of(27, 3) == rungs{1, 3, 9, 27});
  CHECK(rungs_of(16, 2) == rungs{1, 2, 4, 8, 16});
  CHECK(rungs_of(1, 3) == rungs{1});
  CHECK(rungs_of(2, 3) == rungs{2});
  CHECK(rungs_of(51, 3) == rungs{2, 6, 17, 51});
  CHECK(even_rungs(15, 5) == rungs{3, 6, 9, 12, 15});
  CHECK(even_rungs(3, 5) == rungs{1, 2, 3});
  CHECK(even_rungs(7, 3) == rungs{3, 5, 7});
}

TEST_CASE("rungs: of given fidelities the nearest are taken, each once") {
  using rungs = std::vector<std::uint32_t>;
  CHECK(rungs_of(rungs{12, 200}, 3) == rungs{12, 200});
  CHECK(rungs_of(rungs{100}, 3) == rungs{100});
  CHECK(rungs_of(rungs{1, 2, 4, 8, 16, 32, 64}, 4) == rungs{1, 4, 16, 64});
  CHECK(rungs_of(rungs{}, 3).empty());
  rungs all(15);
  std::iota(all.begin(), all.end(), 1U);
  CHECK(rungs_of(all, 3) == rungs_of(15, 3));
}

TEST_CASE("rungs: without a word each rung is to cost what the one below it costs") {
  using rungs = std::vector<std::uint32_t>;
  CHECK(reduction_by(rungs{1, 3, 9, 27}) == 3);
  CHECK(reduction_by(rungs{2, 6, 17, 51}) == 3);
  CHECK(reduction_by(rungs{12, 200}) == 17);
  CHECK(reduction_by(rungs{9, 10}) == 2);
  CHECK(reduction_by(rungs{1, 1'000}) == 100);
  evolution_params p{.strategy = "asha"};
  REQUIRE(complete_rungs(p, 200, {12, 200}));
  CHECK(p.rungs == rungs{12, 200});
  CHECK(p.reduction == 17U);
  evolution_params said{.strategy = "asha", .reduction = 4};
  REQUIRE(complete_rungs(said, 200, {12, 200}));
  CHECK(said.reduction == 4U);
}

TEST_CASE("rungs: what is not said is filled in, for strategies of fidelities alone") {
  evolution_params p{.strategy = "asha"};
  REQUIRE(complete_rungs(p, 15));
  CHECK(p.rungs == std::vector<std::uint32_t>{2, 5, 15});
  CHECK(p.reduction == 3U);
  evolution_params even{.strategy = "median_stopping"};
  REQUIRE(complete_rungs(even, 20));
  CHECK(even.rungs == std::vector<std::uint32_t>{4, 8, 12, 16, 20});
  evolution_params steps{.strategy = "population_based_training", .generations = 3};
  REQUIRE(complete_rungs(steps, 15));
  CHECK(steps.rungs == std::vector<std::uint32_t>{5, 10, 15});
  evolution_params other{};
  REQUIRE(complete_rungs(other, 15));
  CHECK(other.rungs.empty());
  CHECK_FALSE(other.reduction);
}

TEST_CASE("rungs: those that do not rise to a full training are refused in a sentence") {
  const auto message = [](std::vector<std::uint32_t> rungs, std::uint32_t epochs = 15,
                          const std::string& strategy = "asha") {
    evolution_params p{.strategy = strategy, .rungs = std::move(rungs)};
    const auto done = complete_rungs(p, epochs);
    return done ? "" : done.error().message;
  };
  CHECK(message({1, 3, 9, 15}).empty());
  const std::string rise =
      ": they are at least two numbers of epochs that rise, such as [1, 3, 9]";
  CHECK(message({3, 3, 15}) == "evolution.rungs is [3, 3, 15]" + rise);
  CHECK(message({0, 15}) == "evolution.rungs is [0, 15]" + rise);
  CHECK(message({15}) == "evolution.rungs is [15]" + rise);
  CHECK(message({1, 20})
        == "evolution.rungs is [1, 20]: the last must be that of a full training, which "
           "has 15 epochs");
  CHECK(
      message({}, 1)
      == "evolution.strategy is \"asha\": it compares candidates before they are trained "
         "to the end, and that is after 1 epoch; raise the number of epochs, or take "
         "\"regularized\"");
  CHECK(message({1, 15}, 15, "random")
        == "evolution.rungs is [1, 15]: \"random\" trains every candidate to the end; "
           "remove it, or take a strategy of several fidelities, such as \"asha\"");
}

TEST_CASE("rungs: what goes on starts from a training of the rung below") {
  for (const auto& strategy : climbers)
    for (const std::int64_t size : {6, 10'000}) { // In the small one there are copies.
      INFO(strategy << " of " << size);
      const auto run = simulate(toy_simulation(toy_rules(strategy), {.size = size}));
      const auto all = born(run);
      const auto results = evaluations(run);
      const std::vector<std::uint32_t> rungs{1, 3, 9};
      std::size_t trained_on = 0;
      for (const auto& [id, c] : all) {
        const auto rung = std::find(rungs.begin(), rungs.end(), c.epochs);
        REQUIRE(rung != rungs.end());
        if (!goes_on(c))
          continue;
        ++trained_on;
        REQUIRE(rung != rungs.begin());
        const auto& start = all.at(c.start);
        CHECK(start.epochs == *(rung - 1));
        CHECK(c.start_epoch == start.epochs);
        CHECK(results.at(c.start).equal_to == 0);
        CHECK(results.at(c.start).outcome == outcome::succeeded);
        CHECK(start.network == all.at(c.parents.front()).network);
        if (strategy != "population_based_training")
          CHECK(c.network == start.network);
      }
      CHECK(trained_on > 0);
    }
}

TEST_CASE("rungs: the best has each network once, at the epochs where it did best") {
  const auto run = simulate(toy_simulation(toy_rules("asha"), {.size = 60}));
  REQUIRE_FALSE(run.state.best.empty());
  std::set<std::int64_t> networks;
  for (const auto& i : run.state.best)
    CHECK(networks.insert(toy_number(*i.genome)).second);
  for (const auto& [id, e] : evaluations(run)) {
    const auto f = fitness_of(e, run.state.rules.objective);
    CHECK(!fitter({id, {}, f},
                  {run.state.best.front().id, {}, run.state.best.front().fitness}));
  }
}

TEST_CASE("rungs: at equal epochs, halving finds better networks than full trainings") {
  constexpr int seeds = 10;
  constexpr std::uint64_t epochs = 60 * 27;
  std::map<std::string, double> sum;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed)
    for (const auto* strategy : {"regularized", "successive_halving", "asha", "dehb"})
      sum[strategy] += best_after(strategy, epochs, seed) / seeds;
  std::string means;
  for (const auto& [strategy, best] : sum)
    means += " " + strategy + "=" + to_text(value{best});
  INFO(means);
  for (const auto* strategy : {"successive_halving", "asha", "dehb"})
    CHECK(sum[strategy] > sum["regularized"]);
}

TEST_CASE("successive halving: of each rung one of three goes on") {
  auto rules = toy_rules("successive_halving");
  rules.evolution.population = 27;
  const auto run = simulate(toy_simulation(rules));
  std::map<std::uint64_t, std::map<std::uint32_t, int>> counts;
  for (const auto& [id, c] : born(run))
    ++counts[c.generation][c.epochs];
  CHECK(counts[0] == std::map<std::uint32_t, int>{{1, 27}});
  CHECK(counts[1] == std::map<std::uint32_t, int>{{1, 18}, {3, 9}});
  CHECK(counts[2] == std::map<std::uint32_t, int>{{1, 18}, {3, 6}, {9, 3}});
}

TEST_CASE("successive halving: it is the fittest of a rung that go on") {
  auto rules = toy_rules("successive_halving");
  rules.evolution.population = 27;
  const auto run = simulate(toy_simulation(rules));
  const auto all = born(run);
  std::vector<individual> first;
  for (const auto& [id, e] : evaluations(run))
    if (all.at(id).generation == 0)
      first.push_back({id, all.at(id).genome, fitness_of(e, rules.objective)});
  std::sort(first.begin(), first.end(), fitter);
  std::set<candidate_id> best, promoted;
  for (std::size_t i = 0; i < 9; ++i)
    best.insert(first[i].id);
  for (const auto& [id, c] : all)
    if (c.generation == 1 && goes_on(c))
      promoted.insert(c.start);
  CHECK(promoted == best);
}

TEST_CASE("hyperband: brackets begin on all rungs, the most on the lowest") {
  auto rules = toy_rules("hyperband");
  rules.evolution.population = 17;
  const auto run = simulate(toy_simulation(rules));
  std::map<std::uint32_t, int> begun;
  for (const auto& [id, c] : born(run))
    if (c.generation == 0)
      ++begun[c.epochs];
  CHECK(begun == std::map<std::uint32_t, int>{{1, 9}, {3, 5}, {9, 3}});
}

TEST_CASE("asha: whoever goes on is in the first third of those heard on its rung") {
  auto rules = toy_rules("asha");
  rules.evolution.population = 40;
  rules.evolution.generations = 1;
  rules.evolution.in_flight = 1;
  const auto search = *make_strategy(rules.evolution, 1);
  const toy_world world;
  std::map<std::uint32_t, std::vector<individual>> heard;
  std::size_t promoted = 0;
  while (!search->finished()) {
    if (search->closing()) {
      search->close();
      continue;
    }
    const auto order = search->ask().front();
    const auto c = world.breed(1, order);
    if (order.how == breeding::kind::train_on) {
      auto rung = heard[order.parents[0].epochs];
      std::sort(rung.begin(), rung.end(), fitter);
      const auto place = std::find_if(rung.begin(), rung.end(), [&](const individual& i) {
        return i.id == order.start;
      });
      REQUIRE(place != rung.end());
      CHECK(3 * (place - rung.begin() + 1) <= std::ptrdiff_t(rung.size()));
      ++promoted;
    }
    search->born(c);
    const individual i{.id = c.id,
                       .genome = c.genome,
                       .fitness = fitness_of(world.evaluate(c), {}),
                       .epochs = c.epochs};
    heard[c.epochs].push_back(i);
    search->tell(i);
  }
  CHECK(promoted > 5);
}

TEST_CASE("median stopping: those above the median go on at once, others never") {
  auto rules = toy_rules("median_stopping");
  rules.evolution.in_flight = 1;
  const auto search = *make_strategy(rules.evolution, 1);
  const std::vector<double> values{0.5, 0.9, 0.4, 0.6, 0.8};
  std::vector<std::string> steps;
  candidate_id next = 0;
  for (const auto v : values) {
    auto order = search->ask().front();
    while (order.how == breeding::kind::train_on) { // Fails there, and is gone.
      steps.push_back("#" + std::to_string(order.start) + " to "
                      + std::to_string(order.epochs));
      search->born({.id = order.id});
      search->tell({.id = order.id, .genome = toy_genome(1), .epochs = order.epochs});
      order = search->ask().front();
    }
    next = order.id;
    search->born({.id = next});
    search->tell({.id = next,
                  .genome = toy_genome(1),
                  .fitness = {.ok = true, .primary = v},
                  .epochs = order.epochs});
  }
  // 0.5 is all there is, 0.9 above it; 0.4 is below, 0.6 is among the first half of four.
  CHECK(steps == std::vector<std::string>{"#1 to 3", "#3 to 3", "#6 to 3"});
}

TEST_CASE("population based training: the worst quarter goes on from the best") {
  auto rules = toy_rules("population_based_training");
  rules.evolution.population = 16;
  const auto run = simulate(toy_simulation(rules));
  const auto all = born(run);
  const auto results = evaluations(run);
  for (std::uint64_t generation : {1, 2, 4, 5}) {
    std::vector<individual> before;
    for (const auto& [id, c] : all)
      if (c.generation + 1 == generation)
        before.push_back({id, c.genome, fitness_of(results.at(id), rules.objective)});
    std::sort(before.begin(), before.end(), fitter);
    std::set<candidate_id> best, exploited, continued;
    for (std::size_t i = 0; i < 4; ++i)
      best.insert(before[i].id);
    for (const auto& [id, c] : all)
      if (c.generation == generation) {
        const auto& from = all.at(c.parents.front());
        (c.network == from.network ? continued : exploited).insert(from.id);
        CHECK(c.epochs == rules.evolution.rungs[generation % 3]);
      }
    for (const auto id : exploited)
      CHECK(best.contains(id));
    CHECK(continued.size() <= 12);
    CHECK(!exploited.empty());
    for (std::size_t i = 12; i < 16; ++i)
      CHECK_FALSE(continued.contains(before[i].id));
  }
  for (const auto& [id, c] : all)
    if (c.generation == 3) // Another population begins.
      CHECK(!goes_on(c));
}
