#include "engine/search/strategies/registry/registry.hpp"
#include "engine/search/strategies/registry/validation.hpp"
#include "engine/search/strategies/sampling/tpe.hpp"
#include "tests/engine/search/real_world.hpp"
#include "tests/engine/search/toy_world.hpp"
#include "tests/support/small_space.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <set>

using namespace clade;

namespace {

evolution_params modelling(std::size_t evaluations, std::size_t in_flight = 4) {
  return {.strategy = "tpe",
          .population = 10,
          .generations = evaluations / 10,
          .in_flight = in_flight};
}

/// Reals, a logarithmic one, whole numbers, both kinds of choice, and a condition.
std::shared_ptr<const search_space> mixed() {
  choice_domain kinds{.options = {std::string("a"), std::string("b"), std::string("c")}};
  choice_domain sizes{.options = {}, .ordered = true};
  for (std::int64_t n = 0; n < 8; ++n)
    sizes.options.emplace_back(n);
  return space_of({{.name = "x", .domain = real_domain{-1, 1}, .when = {}},
                   {.name = "rate", .domain = real_domain{1e-5, 1, true}, .when = {}},
                   {.name = "count", .domain = integer_domain{0, 1000}, .when = {}},
                   {.name = "size", .domain = sizes, .when = {}},
                   {.name = "kind", .domain = kinds, .when = {}},
                   {.name = "momentum",
                    .domain = real_domain{0, 1},
                    .when = condition{"kind", {std::string("b")}}}});
}

/// At best 0, where kind is "b" and the rest in the midst of somewhere.
double off(const genome& g) {
  const auto square = [](double v) { return v * v; };
  double sum =
      square(number(g, "x") - 0.3) + square((std::log10(number(g, "rate")) + 2) / 5)
      + square((number(g, "count") - 700) / 1000) + square((number(g, "size") - 5) / 8);
  const auto kind = std::get<std::string>(*find(g.hyperparameters, "kind"));
  sum += kind == "b" ? square(number(g, "momentum") - 0.9) : 0.5;
  return -sum;
}

double mean_best(const evolution_params& params,
                 const std::shared_ptr<const search_space>& space,
                 const std::function<double(const genome&)>& fitness) {
  double sum = 0;
  for (std::uint64_t seed = 1; seed <= 15; ++seed)
    sum += best_curve(simulate(real_simulation(params, seed, space, fitness))).back();
  return sum / 15;
}

evolution_params random_of(evolution_params params) {
  params.strategy = "random";
  return params;
}

} // namespace

TEST_CASE("tpe: in a mixed space it comes far closer than random search") {
  const auto modelled = mean_best(modelling(120), mixed(), off);
  const auto drawn = mean_best(random_of(modelling(120)), mixed(), off);
  CAPTURE(modelled, drawn);
  CHECK(modelled > drawn / 4);
}

TEST_CASE("tpe: of choices that depend on each other it finds what goes together") {
  // Pairs count where both are alike: no choice is better by itself.
  const auto pairs = [](const genome& g) {
    double sum = 0;
    for (int i = 0; i < 3; ++i)
      sum += number(g, "c" + std::to_string(2 * i))
                     == number(g, "c" + std::to_string(2 * i + 1))
                 ? 1
                 : 0;
    return sum;
  };
  const auto space = space_of_choices(6, 6);
  CHECK(mean_best(modelling(80), space, pairs)
        > mean_best(random_of(modelling(80)), space, pairs));
}

TEST_CASE("tpe: the first are sampled, and more until some have succeeded") {
  const auto mostly_fails = [](const genome& g) {
    return number(g, "x") < 0.7 ? std::numeric_limits<double>::quiet_NaN() : off(g);
  };
  int fails_late = 0;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const auto run =
        simulate(real_simulation(modelling(100, 1), seed, mixed(), mostly_fails));
    int succeeded = 0;
    for (const auto& c : trained(run)) {
      CHECK((to_text(c.changes) == "sampled") == (c.id <= 10 || succeeded < 4));
      const bool ok = number(*c.genome, "x") >= 0.7;
      succeeded += ok ? 1 : 0;
      fails_late += c.id > 50 && !ok ? 1 : 0;
    }
  }
  CHECK(fails_late < 150); // 210 of 250 of random search.
}

TEST_CASE("tpe: what is known is not drawn again") {
  const auto sum = [](const genome& g) { return number(g, "c0") + number(g, "c1"); };
  const auto run =
      simulate(real_simulation(modelling(50), 1, space_of_choices(2, 8), sum));
  std::set<genome_hash> networks;
  for (const auto& c : trained(run))
    CHECK(networks.insert(c.network).second);
  CHECK(networks.size() == 50);
}

TEST_CASE("tpe: in a space of layers it takes the graphs of the good and mutates them") {
  const auto space = std::make_shared<const search_space>(small_space());
  const auto wants = [](const genome& g) {
    return static_cast<double>(g.nodes.size())
           - std::fabs(std::log10(number(g, "learning_rate")) + 3);
  };
  const auto run = simulate(real_simulation(modelling(200), 1, space, wants));
  int of_parents = 0;
  std::set<std::string> kept_graph;
  for (const auto& c : trained(run)) {
    CHECK(c.parents.size() <= 1);
    of_parents += c.parents.empty() ? 0 : 1;
    if (to_text(c.changes) == "hyperparameters by TPE")
      kept_graph.insert(to_text(c.network));
  }
  CHECK(of_parents > 180);
  CHECK(kept_graph.size() > 20);
  CHECK(best_curve(run).back() > 9);
}

TEST_CASE("tpe: a space without anything to model is refused in a sentence") {
  const auto refused = check_strategy(modelling(100), *space_of({}));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message
        == "evolution.strategy = \"tpe\" models hyperparameters, and numbers.toml has "
           "none with more than one value; take \"regularized\"");
  CHECK(check_strategy(modelling(100), *mixed()));
}

TEST_CASE("tpe: of a long history it holds a part, the best among it") {
  auto params = modelling(1'000'000, 1);
  params.population = 600;
  const auto search = *make_strategy(params, 1, mixed());
  auto random = derive(1, purpose::sample, 0, 0);
  for (candidate_id id = 1; id <= 3000; ++id) {
    search->born({});
    if (search->closing())
      search->close();
    auto i = an_individual(id, id == 5 ? 2.0 : random.uniform());
    i.genome = std::make_shared<const genome>(sample_genome(mixed()->rules, random));
    search->tell(i);
  }
  CHECK(search->population().front().id == 5);
  CHECK(search->population().size() == 600);
  const auto orders = search->ask();
  REQUIRE(orders.size() == 1);
  const mutation_params mutation;
  const auto problem = small_problem();
  const auto made = breed({*mixed(), problem, mutation, 1}, orders[0]);
  REQUIRE(made);
  CHECK(to_text(made->changes) == "proposed by TPE");
}
