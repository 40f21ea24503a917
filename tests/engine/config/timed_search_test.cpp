#include "engine/config/timed_search.hpp"
#include "tests/engine/config/experiment_files.hpp"

#include <catch2/catch.hpp>

using namespace clade;

TEST_CASE("timed search: one that Clade chose takes rungs, others stay as they are") {
  const experiment_files files;
  const auto timed = [&](std::vector<std::string> overrides) {
    overrides.insert(overrides.begin(),
                     {"training.epochs=27", "limits.wall_time=\"5min\"",
                      "final.model=\"ensemble\"", "evolution.strategy=\"auto\"",
                      "evolution.population=10", "evolution.generations=10"});
    auto e = files.loaded(files.valid, overrides);
    take_rungs_for_time(e);
    return e.evolution;
  };
  const auto p = timed({});
  CHECK(p.rungs == std::vector<std::uint32_t>{1, 3, 9, 27});
  CHECK(p.strategy == "multi_fidelity");
  CHECK(p.chosen.starts_with("multi_fidelity: with rungs"));
  CHECK(timed({"evolution.generations=1"}).strategy == "asha");
  CHECK(timed({"evolution.rungs=[9,27]"}).rungs == std::vector<std::uint32_t>{9, 27});
  for (const auto* other : {"evolution.strategy=\"surrogate\"", "limits.wall_time=\"0s\"",
                            "final.model=\"none\"", "training.epochs=5",
                            "objective.minimize=[\"parameters\"]"})
    CHECK(timed({other}).rungs.empty());
}
