#include "tests/engine/search/pareto_problems.hpp"

#include <cmath>
#include <numbers>
#include <numeric>

namespace clade {

namespace {

std::string metric_name(std::size_t i) {
  return "f" + std::to_string(i);
}

search_space real_space(std::size_t variables) {
  search_space s;
  s.name = "reals";
  for (std::size_t i = 0; i < variables; ++i)
    s.rules.hyperparameters.push_back(
        {.name = "x" + std::to_string(i), .domain = real_domain{0, 1}});
  s.rules.max_nodes = 0;
  s.rules.max_skips = 0;
  s.rules.initial_nodes = 0;
  return s;
}

std::vector<double> variables_of(const genome& g, std::size_t count) {
  std::vector<double> x;
  for (std::size_t i = 0; i < count; ++i)
    x.push_back(std::get<double>(*find(g.hyperparameters, "x" + std::to_string(i))));
  return x;
}

} // namespace

simulation pareto_problem::run(const std::string& strategy, std::uint64_t seed,
                               std::size_t population, std::size_t generations) const {
  simulation s;
  s.rules.evolution.strategy = strategy;
  s.rules.evolution.population = population;
  s.rules.evolution.generations = generations;
  s.rules.seed = seed;
  s.rules.objective = {.metric = "f0", .maximize = false};
  for (std::size_t i = 1; i < objectives; ++i)
    s.rules.objective.others.push_back({metric_name(i), false});
  const auto space = std::make_shared<const search_space>(real_space(variables));
  s.rules.space = space;
  s.breed = [space, seed](const breeding& order) {
    const problem p{.input = {{4}}, .outputs = 2};
    const mutation_params mutation;
    return breed({*space, p, mutation, seed}, order).value();
  };
  s.evaluate = [me = *this](const candidate& c) {
    evaluation e{.id = c.id};
    const auto values = me.values(variables_of(*c.genome, me.variables));
    for (std::size_t i = 0; i < values.size(); ++i)
      e.metrics.push_back({metric_name(i), values[i]});
    return e;
  };
  return s;
}

pareto_problem zdt1() {
  return {.values = [](const std::vector<double>& x) -> objective_point {
    const double rest = std::accumulate(x.begin() + 1, x.end(), 0.0);
    const double g = 1 + 9 * rest / static_cast<double>(x.size() - 1);
    return {x[0], g * (1 - std::sqrt(x[0] / g))};
  }};
}

pareto_problem dtlz2(std::size_t objectives) {
  return {.variables = objectives + 4,
          .objectives = objectives,
          .values = [objectives](const std::vector<double>& x) {
            double g = 0;
            for (std::size_t i = objectives - 1; i < x.size(); ++i)
              g += (x[i] - 0.5) * (x[i] - 0.5);
            objective_point f(objectives, 1 + g);
            for (std::size_t m = 0; m < objectives; ++m) {
              for (std::size_t i = 0; i + m + 1 < objectives; ++i)
                f[m] *= std::cos(x[i] * std::numbers::pi / 2);
              if (m > 0)
                f[m] *= std::sin(x[objectives - m - 1] * std::numbers::pi / 2);
            }
            return f;
          }};
}

double hypervolume_of(const simulated& run, std::size_t objectives, double worst) {
  std::vector<objective_point> raised;
  for (const auto& r : run.records)
    if (const auto* e = std::get_if<candidate_evaluated>(&r)) {
      objective_point p;
      for (std::size_t i = 0; i < objectives; ++i)
        p.push_back(-*find(e->evaluated.metrics, metric_name(i)));
      raised.push_back(std::move(p));
    }
  const auto fronts = sort_into_fronts(raised);
  std::vector<objective_point> front;
  for (const auto i : fronts.front())
    front.push_back(raised[i]);
  return hypervolume(std::move(front), objective_point(objectives, -worst));
}

} // namespace clade
