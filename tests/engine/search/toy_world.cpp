#include "tests/engine/search/toy_world.hpp"

#include <catch2/catch.hpp>

#include <cmath>

namespace clade {

std::shared_ptr<const genome> toy_genome(std::int64_t x) {
  genome g;
  g.nodes = {{input_innovation, "input", {}}, {output_innovation, "output", {}}};
  g.edges = {{innovation{2}, input_innovation, output_innovation}};
  g.hyperparameters = {{"x", x}};
  return std::make_shared<const genome>(std::move(g));
}

std::int64_t toy_number(const genome& g) {
  return std::get<std::int64_t>(*find(g.hyperparameters, "x"));
}

search_space toy_world::space() const {
  search_space s;
  s.name = "toy";
  s.rules.hyperparameters = {
      {.name = "x", .domain = integer_domain{.low = 0, .high = size - 1}}};
  s.rules.max_nodes = 0;
  s.rules.max_skips = 0;
  s.rules.initial_nodes = 0;
  return s;
}

candidate toy_world::breed(std::uint64_t seed, const breeding& order) const {
  auto random =
      derive(seed, purpose::mutation, order.generation, order.index, order.attempt);
  const auto any =
      static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(size)));
  auto c = a_candidate(order.id, any);
  c.generation = order.generation;
  c.index = order.index;
  c.attempt = order.attempt;
  c.epochs = order.epochs;
  c.start = order.start;
  for (const auto& p : order.parents)
    c.parents.push_back(p.id);
  c.epochs = order.epochs;
  c.start = order.start;
  c.start_epoch = start_epoch_of(order);
  if (order.how == breeding::kind::propose) {
    const auto where = space();
    const problem p{.input = {{4}}, .outputs = 2};
    const mutation_params mutation;
    auto made = order.proposal->make({where, p, mutation, seed}, order);
    REQUIRE(made.has_value());
    REQUIRE(clade::check(where.rules, made->child).has_value());
    c.network.low = static_cast<std::uint64_t>(toy_number(made->child));
    c.genome = std::make_shared<const genome>(std::move(made->child));
    c.changes = std::move(made->changes);
  } else if (order.how == breeding::kind::given) {
    c.network.low = static_cast<std::uint64_t>(toy_number(*order.genome));
    c.genome = order.genome;
    c.changes = {{.after = order.origin}};
  } else if (order.how == breeding::kind::train_on) {
    c.genome = std::make_shared<const genome>(*order.parents[0].genome);
    c.network.low = static_cast<std::uint64_t>(toy_number(*c.genome));
    c.changes = {{.kind = change_kind::goes_on, .after = std::to_string(c.epochs)}};
  } else if (!order.parents.empty()) {
    std::int64_t sum = 0;
    for (const auto& p : order.parents)
      sum += toy_number(*p.genome);
    const auto mean = sum / static_cast<std::int64_t>(order.parents.size());
    const auto x = (mean + any % (size / 5 + 1)) % size;
    c.genome = toy_genome(x);
    c.network.low = static_cast<std::uint64_t>(x);
    c.changes = {{.after = "moved"}};
  }
  return c;
}

evaluation toy_world::evaluate(const candidate& c) const {
  const auto x = toy_number(*c.genome);
  if (all_fail || x % 7 == 0)
    return a_failure(c.id);
  const auto off = std::abs(static_cast<double>(x) - 0.75 * static_cast<double>(size));
  const auto score = 1 - off / static_cast<double>(size);
  // The later a curve rises, the less its beginning tells.
  const auto slowness = 0.5 + static_cast<double>(x % 5) / 2;
  const auto learnt =
      c.epochs == 0 ? 1 : 1 - std::exp(-static_cast<double>(c.epochs) / slowness);
  auto e = a_success(c.id, score * learnt);
  e.parameters = static_cast<std::uint64_t>(x);
  return e;
}

candidate a_candidate(candidate_id id, std::int64_t x) {
  candidate c;
  c.id = id;
  c.index = id - 1;
  c.genome = toy_genome(x);
  c.network = {.high = 1, .low = static_cast<std::uint64_t>(x)};
  c.changes = {{.after = "random"}};
  return c;
}

evaluation a_success(candidate_id id, double accuracy) {
  evaluation e;
  e.id = id;
  e.metrics = {{"validation.accuracy", accuracy}};
  return e;
}

evaluation a_failure(candidate_id id, outcome o) {
  evaluation e;
  e.id = id;
  e.outcome = o;
  e.reason = "killed by signal 11";
  return e;
}

individual an_individual(candidate_id id, double primary) {
  return {id, toy_genome(0), {.ok = true, .primary = primary}};
}

individual a_failed_individual(candidate_id id) {
  return {id, toy_genome(0), {}};
}

run_rules toy_rules(const std::string& strategy, std::uint64_t seed) {
  run_rules rules;
  rules.evolution.strategy = strategy;
  rules.evolution.population = 8;
  rules.evolution.generations = 6;
  rules.evolution.elites = 2;
  rules.evolution.in_flight = 3;
  for (const auto* climbs :
       {"successive_halving", "hyperband", "dehb", "asha", "multi_fidelity",
        "median_stopping", "population_based_training"})
    if (strategy == climbs)
      rules.evolution.rungs = {1, 3, 9};
  rules.seed = seed;
  rules.space = std::make_shared<const search_space>(toy_world{}.space());
  return rules;
}

simulation toy_simulation(const run_rules& rules, const toy_world& world) {
  simulation s;
  s.rules = rules;
  s.rules.space = std::make_shared<const search_space>(world.space());
  s.breed = [seed = rules.seed, world](const breeding& order) {
    return world.breed(seed, order);
  };
  s.evaluate = [world](const candidate& c) { return world.evaluate(c); };
  return s;
}

} // namespace clade
