#include "engine/search/bases/adaptive_rates.hpp"
#include "tests/engine/search/real_world.hpp"
#include "tests/engine/search/toy_world.hpp"
#include "tests/support/small_space.hpp"

#include <catch2/catch.hpp>

#include <map>

using namespace clade;

namespace {

const std::vector widened{change_kind::widen};
const std::vector narrowed{change_kind::narrow};

evolution_params adapting(const char* strategy, bool adapt = true) {
  evolution_params p{.strategy = strategy,
                     .population = 20,
                     .generations = 15,
                     .elites = 4,
                     .in_flight = 5};
  p.mutation.adapt = adapt;
  return p;
}

/// More nodes are better, and nothing else counts.
double nodes_of(const genome& g) {
  return static_cast<double>(topological_order(g).size());
}

/// The rates with which the first candidate of each generation was ordered.
std::vector<mutation_params> rates_over(const simulation& s) {
  const auto run = simulate(s);
  std::vector<mutation_params> rates;
  auto state = make_run_state(s.rules);
  REQUIRE(state);
  for (const auto& r : run.records) {
    if (const auto* b = std::get_if<candidate_born>(&r); b && b->born.index == 0)
      rates.push_back(
          state->search->ask(0, 1).front().mutation.value_or(s.rules.evolution.mutation));
    REQUIRE(apply(*state, r));
  }
  return rates;
}

} // namespace

TEST_CASE("adaptive rates: before anything paid they are the experiment's") {
  adaptive_rates a({});
  for (int i = 0; i < 50; ++i)
    a.add(widened, false);
  for (const auto& c : a.credits())
    CHECK(c.rate == c.base);
}

TEST_CASE("adaptive rates: what pays more often is tried more often") {
  adaptive_rates a({.widen = 1, .narrow = 2});
  for (int i = 0; i < 60; ++i) {
    a.add(widened, i % 3 == 0);
    a.add(narrowed, i % 30 == 0);
  }
  const auto rates = a.rates();
  // 22 of 120 paid: q = .1833; widen (20 + 1.833) / 70 = .3119; narrow (2 + 1.833) / 70.
  CHECK(rates.widen == Approx(0.25 + 0.75 * 0.31190 / 0.18333).epsilon(1e-3));
  CHECK(rates.narrow == Approx(2 * (0.25 + 0.75 * 0.05476 / 0.18333)).epsilon(1e-3));
  // Not tried: average.
  CHECK(rates.add_node == Approx(mutation_params{}.add_node));
}

TEST_CASE("adaptive rates: nothing falls below a quarter, and what is 0 stays 0") {
  adaptive_rates a({.add_edge = 0, .widen = 1, .narrow = 2});
  for (int i = 0; i < 100; ++i) {
    a.add(widened, true);
    a.add(narrowed, false);
    a.add({change_kind::add_edge}, true);
  }
  CHECK(a.rates().narrow >= 0.5);
  CHECK(a.rates().narrow < 0.7);
  CHECK(a.rates().add_edge == 0);
}

TEST_CASE("adaptive rates: what is older than the window is forgotten") {
  adaptive_rates a({});
  for (std::size_t i = 0; i < adaptive_rates::window; ++i)
    a.add(widened, true);
  for (std::size_t i = 0; i < adaptive_rates::window; ++i)
    a.add(narrowed, i % 2 == 0);
  const auto credits = a.credits();
  CHECK(credits[static_cast<std::size_t>(change_kind::widen)].children == 0);
  CHECK(credits[static_cast<std::size_t>(change_kind::narrow)].children == 200);
  CHECK(credits[static_cast<std::size_t>(change_kind::narrow)].paid == 100);
}

TEST_CASE("adaptive rates: a child of several changes counts for each, and of none not") {
  adaptive_rates a({});
  a.add({change_kind::widen, change_kind::add_node}, true);
  a.add({}, true);
  std::uint64_t children = 0;
  for (const auto& c : a.credits())
    children += c.children;
  CHECK(children == 2);
}

TEST_CASE("adaptive rates: each strategy that adapts learns what its search pays for") {
  const auto space = std::make_shared<const search_space>(small_space());
  for (const auto* strategy : {"regularized", "generational", "map_elites"}) {
    INFO(strategy);
    const auto rates =
        rates_over(real_simulation(adapting(strategy), 1, space, nodes_of));
    REQUIRE(rates.size() == 15);
    const mutation_params base;
    CHECK(rates[0].add_node == base.add_node);
    double more = 0, fewer = 0, other = 0;
    for (const auto& r : rates) {
      more += r.add_node / base.add_node;
      fewer += r.remove_node / base.remove_node;
      other += r.change_hyperparameter / base.change_hyperparameter;
    }
    CHECK(more > 1.3 * fewer);
    CHECK(more > 1.1 * other);
  }
}

TEST_CASE("adaptive rates: without adapt every order has the run's own") {
  const auto space = std::make_shared<const search_space>(small_space());
  for (const auto* strategy : {"regularized", "generational", "map_elites"}) {
    const auto s = real_simulation(adapting(strategy, false), 1, space, nodes_of);
    auto state = make_run_state(s.rules);
    REQUIRE(state);
    for (const auto& r : simulate(s).records) {
      for (const auto& order : state->search->ask())
        REQUIRE_FALSE(order.mutation);
      REQUIRE(apply(*state, r));
    }
  }
}

TEST_CASE("adaptive rates: learning leaves no trace of order and goes on from its fold") {
  const auto space = std::make_shared<const search_space>(small_space());
  for (const auto* strategy : {"regularized", "generational", "map_elites"}) {
    INFO(strategy);
    auto params = adapting(strategy);
    params.generations = 6;
    auto s = real_simulation(params, 1, space, nodes_of);
    const auto whole = simulate(s);
    const auto plain = simulate(real_simulation(
        [&] {
          auto p = params;
          p.mutation.adapt = false;
          return p;
        }(),
        1, space, nodes_of));
    CHECK(whole.state.digest != plain.state.digest);
    for (std::uint64_t order = 1; order <= 5; ++order) {
      s.pick = shuffled(order);
      REQUIRE(simulate(s).state.digest == whole.state.digest);
    }
    for (std::size_t stop = 1; stop < whole.records.size(); stop += 7) {
      s.pick = shuffled(stop);
      const auto resumed =
          simulate(s, {whole.records.begin(),
                       whole.records.begin() + static_cast<std::ptrdiff_t>(stop)});
      REQUIRE(resumed.state.digest == whole.state.digest);
    }
  }
}
