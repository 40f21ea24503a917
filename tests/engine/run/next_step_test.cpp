#include "engine/run/steps/next_step.hpp"
#include "tests/engine/search/toy_world.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <random>

using namespace clade;

namespace {

/// The state behind these births with these numbers, in a generation of 8.
run_state behind(const std::vector<candidate>& births) {
  std::vector<record> records{run_started{.version = "0", .seed = 1}};
  for (const auto& c : births)
    records.push_back(candidate_born{c});
  return fold(toy_rules("generational"), records);
}

bred made(candidate_id id, std::int64_t x, std::uint64_t attempt = 0) {
  bred b{{.id = id, .index = id - 1, .attempt = attempt}, a_candidate(id, x)};
  b.made.attempt = attempt;
  return b;
}

std::string to_text(const resolution& r) {
  std::string text = "accepted";
  for (const auto& c : r.accepted)
    text += " #" + std::to_string(c.id)
            + (c.equal_to == 0 ? "" : "=#" + std::to_string(c.equal_to));
  text += "; again";
  for (const auto& b : r.again)
    text += " #" + std::to_string(b.id) + "/" + std::to_string(b.attempt);
  text += "; held";
  for (const auto& b : r.held)
    text += " #" + std::to_string(b.order.id);
  return text;
}

} // namespace

TEST_CASE("resolve: networks that nobody has are accepted in the order of ids") {
  CHECK(to_text(resolve(behind({}), {made(2, 20), made(1, 10), made(3, 30)}))
        == "accepted #1 #2 #3; again; held");
}

TEST_CASE("resolve: what a known network equals is bred again") {
  CHECK(to_text(resolve(behind({a_candidate(1, 10)}), {made(2, 10), made(3, 30)}))
        == "accepted; again #2/1; held #3");
}

TEST_CASE("resolve: of equal siblings the elder is accepted") {
  CHECK(to_text(resolve(behind({}), {made(1, 10), made(2, 10)}))
        == "accepted #1; again #2/1; held");
}

TEST_CASE("resolve: behind a gap candidates are held") {
  CHECK(to_text(resolve(behind({}), {made(1, 10), made(3, 30), made(4, 10)}))
        == "accepted #1; again #4/1; held #3");
  CHECK(to_text(resolve(behind({}), {})) == "accepted; again; held");
}

TEST_CASE("resolve: a held one gives way to what fills the gap before it") {
  auto first = resolve(behind({}), {made(2, 20)});
  REQUIRE(to_text(first) == "accepted; again; held #2");
  first.held.push_back(made(1, 20));
  CHECK(to_text(resolve(behind({}), first.held)) == "accepted #1; again #2/1; held");
}

TEST_CASE("resolve: the last attempt is accepted as an equal") {
  const auto state = behind({a_candidate(1, 10)});
  CHECK(to_text(resolve(state, {made(2, 10, 6)})) == "accepted; again #2/7; held");
  CHECK(to_text(resolve(state, {made(2, 10, 7), made(3, 30)}))
        == "accepted #2=#1 #3; again; held");
  CHECK(to_text(resolve(behind({}), {made(1, 10), made(2, 10, 7)}))
        == "accepted #1 #2=#1; again; held");
}

TEST_CASE("next step: nothing before the start and nothing after the end") {
  auto unstarted = *make_run_state(toy_rules("random"));
  CHECK(next_step(unstarted).waits());
  auto done = simulate(toy_simulation(toy_rules("random")));
  CHECK(next_step(done.state).waits());
}

TEST_CASE("next step: orders that the caller has are left out") {
  const auto state = behind({a_candidate(1, 10)});
  CHECK(next_step(state).breed.size() == 7);
  CHECK(next_step(state).breed.front().id == 2);
  CHECK(next_step(state, 6).breed.size() == 2);
  CHECK(next_step(state, 8).waits());
}

TEST_CASE("next step: a copy waits for the evaluation of its original") {
  auto copy = a_candidate(2, 10);
  copy.equal_to = 1;
  auto state = behind({a_candidate(1, 10), copy});
  CHECK(next_step(state).copy.empty());
  REQUIRE(clade::apply(state, candidate_evaluated{a_success(1, 0.5)}));
  CHECK(next_step(state).copy == std::vector<copying>{{.id = 2, .original = 1}});
  REQUIRE(clade::apply(state, candidate_evaluated{copy_for(2, a_success(1, 0.5))}));
  CHECK(next_step(state).copy.empty());
}

TEST_CASE("next step: a complete generation is to be closed and then the next is bred") {
  auto state = behind({});
  for (candidate_id id = 1; id <= 8; ++id)
    REQUIRE(clade::apply(state,
                         candidate_born{a_candidate(id, static_cast<std::int64_t>(id))}));
  for (candidate_id id = 1; id <= 8; ++id) {
    CHECK(next_step(state).waits());
    REQUIRE(clade::apply(
        state, candidate_evaluated{a_success(id, 0.1 * static_cast<double>(id))}));
  }
  const auto next = next_step(state, 8);
  REQUIRE(next.close);
  CHECK(next.close->survivors == std::vector<candidate_id>{8, 7, 6, 5, 4, 3, 2, 1});
  CHECK(next.breed.empty());
  REQUIRE(clade::apply(state, *next.close));
  CHECK(next_step(state, 8).breed.size() == 8);
}

TEST_CASE("next step: the end comes after the last generation is closed") {
  auto rules = toy_rules("random");
  rules.evolution.population = 1;
  rules.evolution.generations = 1;
  auto state =
      fold(rules, {run_started{.version = "0", .seed = 1}, candidate_born{a_candidate(1)},
                   candidate_evaluated{a_success(1, 0.5)}});
  CHECK_FALSE(next_step(state).finish);
  REQUIRE(clade::apply(state, *next_step(state).close));
  CHECK(next_step(state).finish);
}
