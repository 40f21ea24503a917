// A driver below the actors (engine/simulation/run_driver.hpp) with the records kept.
#include "tests/support/simulation.hpp"

#include "engine/simulation/run_driver.hpp"

#include <catch2/catch.hpp>

#include <memory>
#include <random>

namespace clade {

namespace {

std::map<candidate_id, evaluation> evaluations_in(const std::vector<record>& records) {
  std::map<candidate_id, evaluation> found;
  for (const auto& r : records)
    if (const auto* e = std::get_if<candidate_evaluated>(&r))
      found[e->evaluated.id] = e->evaluated;
  return found;
}

} // namespace

simulated simulate(const simulation& s, std::vector<record> stored, std::size_t limit) {
  simulated run{fold(s.rules, stored), std::move(stored)};
  run_driver driver({.breed = [&](const breeding& order) -> expected<candidate> {
                       return s.breed(order);
                     },
                     .evaluate = s.evaluate,
                     .pick = s.pick,
                     .recorded = [&](const record& r) { run.records.push_back(r); }},
                    std::move(run.state), evaluations_in(run.records));
  while (!driver.state().finished && run.records.size() < limit)
    if (const auto done = driver.step(); !done)
      FAIL(done.error().message);
  if (run.records.size() <= limit)
    return {std::move(driver).take(), std::move(run.records)};
  run.records.resize(limit);
  auto state = fold(s.rules, run.records);
  return {std::move(state), std::move(run.records)};
}

std::function<std::size_t(std::size_t)> shuffled(std::uint64_t seed) {
  return [random = std::make_shared<std::mt19937_64>(seed)](std::size_t n) {
    return static_cast<std::size_t>((*random)() % n);
  };
}

run_state fold(const run_rules& rules, const std::vector<record>& records) {
  auto state = make_run_state(rules);
  if (!state)
    FAIL(state.error().message);
  for (const auto& r : records) {
    const auto applied = apply(*state, r);
    if (!applied)
      FAIL(applied.error().message);
  }
  return std::move(*state);
}

} // namespace clade
