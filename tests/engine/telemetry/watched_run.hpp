#pragma once

#include "engine/config/experiment/experiment.hpp"
#include "engine/store/run/store.hpp"
#include "tests/support/small_run.hpp"

#include <catch2/catch.hpp>

namespace clade::test {

/// A whole run with failures, as its records; evaluations came in an order of their own.
inline simulated watched_run(const std::string& strategy, std::uint64_t order,
                             const std::string& tell_order = "asked",
                             const std::vector<std::string>& more = {}) {
  std::vector<std::string> changes{"evolution.strategy=\"" + strategy + "\"",
                                   "evolution.tell_order=\"" + tell_order + "\"",
                                   "evolution.population=8", "evolution.generations=6"};
  changes.insert(changes.end(), more.begin(), more.end());
  const auto e = load_experiment(
      std::filesystem::path(CLADE_ROOT) / "experiments" / "synthetic.toml", changes);
  REQUIRE(e);
  auto world = small_run(rules_of(*e), {.diverge = 0.2, .epochs = 2});
  world.pick = shuffled(order);
  auto run = simulate(world);
  std::get<run_started>(run.records.front()).experiment = to_toml(*e);
  return run;
}

inline std::vector<entry> entries_of(const std::vector<record>& records) {
  std::vector<entry> all;
  for (const auto& r : records)
    all.push_back({r, {}});
  return all;
}

} // namespace clade::test
