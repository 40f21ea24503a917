#include "engine/simulation/planned_work.hpp"

#include "engine/simulation/run_driver.hpp"

#include <unordered_map>

namespace clade {

namespace {

/// Whatever the objective looks at, feasible and below 1.
evaluation drawn(const candidate& drawing, const objective& goal) {
  evaluation e{.id = drawing.id, .metrics = {}};
  auto random = derive(drawing.network.low, purpose::synthetic, 0, 0);
  for (const auto& a : aims_of(goal))
    e.metrics.push_back({.name = a.metric, .value = random.uniform()});
  for (const auto& c : goal.constraints)
    if (!find(e.metrics, c.metric))
      e.metrics.push_back({.name = c.metric, .value = c.limit});
  return e;
}

/// Runs it until `heard`, of a candidate that was born or is evaluated now, says that it
/// is enough, or to its end.
template<class Heard>
expected<void> run_without_training(run_rules rules, const problem& problem,
                                    Heard heard) {
  bool enough = false;
  auto state = make_run_state(rules);
  if (!state)
    return tl::unexpected(std::move(state).error());
  run_driver driver({.breed = breeder_of(rules, problem),
                     .evaluate =
                         [&](const candidate& c) {
                           enough = enough || heard(c, true);
                           return drawn(c, rules.objective);
                         },
                     .pick = {},
                     .recorded =
                         [&](const record& r) {
                           if (const auto* b = std::get_if<candidate_born>(&r))
                             enough = enough || heard(b->born, false);
                         }},
                    std::move(*state));
  while (!enough && !driver.state().finished)
    if (auto done = driver.step(); !done)
      return tl::unexpected(std::move(done).error());
  return {};
}

} // namespace

expected<std::uint64_t> planned_epochs(const run_rules& rules, const problem& problem,
                                       std::uint32_t epochs) {
  const auto& p = rules.evolution;
  if (p.rungs.empty())
    return std::uint64_t{epochs} * p.population * p.generations;
  std::uint64_t sum = 0;
  std::unordered_map<candidate_id, std::uint32_t> trained;
  const auto count = [&](const candidate& c, bool evaluated) {
    if (!evaluated)
      return false;
    const auto until = c.epochs == 0 ? epochs : c.epochs;
    const auto from = trained.find(c.start);
    sum += until - (from != trained.end() ? std::min(from->second, until) : 0);
    trained[c.id] = until;
    return false;
  };
  return run_without_training(rules, problem, count).map([&] { return sum; });
}

expected<std::uint64_t> open_at_once(const run_rules& rules, const problem& problem,
                                     std::uint64_t slots) {
  std::uint64_t born = 0;
  const auto count = [&](const candidate&, bool evaluated) {
    born += evaluated ? 0 : 1;
    return evaluated || born >= slots;
  };
  return run_without_training(rules, problem, count).map([&] { return born; });
}

} // namespace clade
