#include "tests/engine/config/experiment_files.hpp"

#include <catch2/catch.hpp>

using namespace clade;

namespace {

experiment chosen(const experiment_files& files, std::vector<std::string> overrides) {
  overrides.insert(overrides.begin(), "evolution.population=12");
  auto e = files.loaded(files.valid, overrides);
  choose_in_flight(e);
  return e;
}

const std::string steady = "evolution.strategy=\"regularized\"";

} // namespace

TEST_CASE("experiment: candidates in flight follow the population, not the slots") {
  const experiment_files files;
  const auto in_flight = [&](std::vector<std::string> overrides) {
    return chosen(files, std::move(overrides)).evolution.in_flight;
  };
  CHECK(in_flight({steady}) == 4);
  CHECK(in_flight({steady, "evolution.population=60"}) == 20);
  CHECK(in_flight({steady, "evolution.population=3", "evolution.tournament=2",
                   "evolution.elites=1"})
        == 3);
  CHECK(in_flight({steady, "evolution.in_flight=8"}) == 8);
  CHECK(in_flight({"evolution.strategy=\"islands\"", "evolution.islands=[\"2\"]"}) == 4);
  CHECK(in_flight({"evolution.strategy=\"generational\""}) == 8); // It reads no such key.
  for (const std::string local : {"cpu:1", "cpu:7", "none"})
    CHECK(in_flight({steady, "slots.local=\"" + local + "\""}) == 4);
}

TEST_CASE("experiment: as many in flight as keep all slots busy, at most all") {
  const experiment_files files;
  const auto e = chosen(files, {steady});
  CHECK(busy_in_flight(e, 0) == 4);
  CHECK(busy_in_flight(e, 2) == 4);
  CHECK(busy_in_flight(e, 7) == 7);
  CHECK(busy_in_flight(e, 64) == 12);
}

TEST_CASE("experiment: a resolved one keeps its candidates in flight on any machine") {
  const experiment_files files;
  const auto e = files.loaded(files.valid, {steady, "evolution.in_flight=5"});
  auto resolved = parse_resolved(to_toml(e), "x").value();
  choose_in_flight(resolved);
  CHECK(resolved.evolution.in_flight == 5);
}

TEST_CASE("experiment: what a result depends on is said") {
  const experiment_files files;
  const auto said = [&](std::vector<std::string> overrides) {
    return repeatability_text(chosen(files, std::move(overrides)));
  };
  CHECK_THAT(
      said({steady}),
      Catch::Contains("any number of slots, unless limits.evaluation_time shortens "
                      "a training, 4 candidates at once"));
  CHECK_THAT(said({"evolution.strategy=\"generational\""}),
             Catch::Contains("any number of slots")
                 && !Catch::Contains("candidates at once"));
  CHECK_THAT(said({steady, "evolution.tell_order=\"arrived\""}),
             Catch::Contains("results count as they arrive"));
  const std::string hour = "limits.wall_time=\"1h\"";
  CHECK_THAT(
      said({steady, hour}),
      Catch::Contains("unless limits.wall_time ends it or limits.evaluation_time"));
  CHECK_THAT(said({steady, hour, "final.model=\"ensemble\""}),
             Catch::Contains("the clock ends this run"));
}
