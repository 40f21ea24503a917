#include "engine/search/core/breeding.hpp"
#include "genome/genes/hash.hpp"
#include "tests/support/simulation.hpp"
#include "tests/support/small_space.hpp"

#include <catch2/catch.hpp>

using namespace clade;

namespace {

breeding an_order(breeding::kind how, std::vector<individual> parents = {}) {
  return {.id = 12,
          .generation = 2,
          .index = 3,
          .attempt = 0,
          .how = how,
          .parents = std::move(parents)};
}

candidate bred_as(const breeding& order, std::uint64_t seed = 1) {
  const auto made = breed({small_space(), small_problem(), {}, seed}, order);
  if (!made)
    FAIL(made.error().message);
  return *made;
}

individual a_parent(candidate_id id) {
  auto order = an_order(breeding::kind::sample);
  order.id = order.index = id;
  return {
      id, bred_as(order).genome, {.ok = true, .primary = 1.0 / static_cast<double>(id)}};
}

candidate a_mutant(std::uint64_t attempt = 0, std::uint64_t seed = 1) {
  auto order = an_order(breeding::kind::mutate, {a_parent(4)});
  order.attempt = attempt;
  return bred_as(order, seed);
}

} // namespace

TEST_CASE("breed: what is made has the place of its order and the hash of its network") {
  const auto c = bred_as(an_order(breeding::kind::cross, {a_parent(4), a_parent(5)}));
  CHECK(c.id == 12);
  CHECK(c.generation == 2);
  CHECK(c.index == 3);
  CHECK(c.attempt == 0);
  CHECK(c.parents == std::vector<candidate_id>{4, 5});
  CHECK(c.network == canonical_hash(*c.genome));
  CHECK_FALSE(c.changes.empty());
  CHECK(c.equal_to == 0);
  CHECK(check(small_space().rules, *c.genome));
  CHECK(decode(small_space(), *c.genome, small_problem()));
}

TEST_CASE("breed: a sample has no parents and a mutant has one") {
  CHECK(bred_as(an_order(breeding::kind::sample)).parents.empty());
  CHECK(a_mutant().parents == std::vector<candidate_id>{4});
  CHECK(*a_mutant().genome != *a_parent(4).genome);
}

TEST_CASE(
    "breed: the same order gives the same genome and another attempt or seed another") {
  CHECK(*a_mutant().genome == *a_mutant().genome);
  CHECK(*a_mutant(1).genome != *a_mutant(0).genome);
  CHECK(a_mutant(1).attempt == 1);
  CHECK(*a_mutant(0, 2).genome != *a_mutant(0, 1).genome);
}

TEST_CASE("breed: an order of the wrong number of parents is an error") {
  for (const auto& order :
       {an_order(breeding::kind::sample, {a_parent(4)}), an_order(breeding::kind::mutate),
        an_order(breeding::kind::cross, {a_parent(4)})}) {
    const auto made = breed({small_space(), small_problem(), {}, 1}, order);
    REQUIRE_FALSE(made);
    CHECK(made.error().kind == error_kind::internal);
  }
}

TEST_CASE("breed: a space that no network fits is an error that says so") {
  auto space = small_space();
  space.limits.max_parameters = 1;
  const auto made =
      breed({space, small_problem(), {}, 1}, an_order(breeding::kind::sample));
  REQUIRE_FALSE(made);
  CHECK(made.error().kind == error_kind::invalid_input);
  CHECK_THAT(made.error().message, Catch::Contains("small.toml"));
}

TEST_CASE("breed: work grows with width and depth and shrinks with the batch") {
  const auto dense = [](std::uint64_t id, std::int64_t units) {
    return node_gene{innovation{id}, "dense", {{"activation", "relu"}, {"units", units}}};
  };
  genome small;
  small.nodes = {
      {input_innovation, "input", {}}, {output_innovation, "output", {}}, dense(5, 8)};
  small.edges = {{innovation{12}, input_innovation, innovation{5}},
                 {innovation{13}, innovation{5}, output_innovation}};
  small.hyperparameters = {{"batch_size", std::int64_t{16}}};
  auto wide = small, deep = small, large_batches = small;
  wide.nodes[2] = dense(5, 64);
  deep.nodes.push_back(dense(6, 8));
  deep.edges = {{innovation{12}, input_innovation, innovation{5}},
                {innovation{14}, innovation{5}, innovation{6}},
                {innovation{15}, innovation{6}, output_innovation}};
  large_batches.hyperparameters[0].value = std::int64_t{128};
  const auto work = [](const genome& g) {
    const auto decoded = decode(small_space(), g, small_problem());
    REQUIRE(decoded);
    return training_work(*decoded, g);
  };
  CHECK(work(small) < work(wide));
  CHECK(work(small) < work(deep));
  CHECK(work(large_batches) < work(small));
  CHECK(bred_as(an_order(breeding::kind::sample)).work > 0);
}
