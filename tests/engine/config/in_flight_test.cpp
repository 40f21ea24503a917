#include "tests/engine/config/experiment_files.hpp"

#include <catch2/catch.hpp>

using namespace clade;

TEST_CASE("experiment: candidates in flight follow the slots unless a number is given") {
  const experiment_files files;
  const auto fitted = [&](std::size_t slots, std::vector<std::string> overrides) {
    overrides.push_back("evolution.population=12");
    auto e = files.loaded(files.valid, overrides);
    fit_in_flight(e, slots);
    return e.evolution.in_flight;
  };
  const std::string steady = "evolution.strategy=\"regularized\"";
  CHECK(fitted(3, {steady}) == 3);
  CHECK(fitted(64, {steady}) == 12);
  CHECK(fitted(3, {steady, "evolution.in_flight=8"}) == 8);
  CHECK(fitted(3, {"evolution.strategy=\"islands\"", "evolution.islands=[\"2\"]"}) == 3);
  CHECK(fitted(3, {"evolution.strategy=\"generational\""}) == 8);
  // Workers may come later.
  const std::string open = "slots.listen=\"127.0.0.1:4700\"";
  CHECK(fitted(0, {steady, "slots.local=\"none\""}) == 8);
  CHECK(fitted(3, {steady, open}) == 8);
  CHECK(fitted(10, {steady, open}) == 10);
}

TEST_CASE("experiment: a resolved one keeps its candidates in flight on any machine") {
  const experiment_files files;
  const auto e = files.loaded(files.valid, {"evolution.strategy=\"regularized\""});
  auto resolved = parse_resolved(to_toml(e), "x").value();
  fit_in_flight(resolved, 3);
  CHECK(resolved.evolution.in_flight == e.evolution.in_flight);
}
