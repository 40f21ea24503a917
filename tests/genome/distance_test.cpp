#include "genome/genes/distance.hpp"
#include "tests/genome/wild_genome.hpp"
#include "tests/support/genomes.hpp"

#include <catch2/catch.hpp>

#include <limits>

using namespace clade;
using namespace clade::test;

TEST_CASE("distance: it is 0 for equal genomes and symmetric and at most 1") {
  for (std::uint64_t i = 0; i < 3'000; ++i) {
    random_stream random = derive(1, purpose::sample, 0, i);
    const genome a = a_wild_genome({}, random), b = a_wild_genome({}, random);
    REQUIRE(distance(a, a) == 0);
    REQUIRE(distance(a, b) == distance(b, a));
    REQUIRE((distance(a, b) == 0) == (a == b));
    REQUIRE(distance(a, b) <= 1);
  }
}

TEST_CASE("distance: one setting that differs counts as one item of all") {
  const genome a = a_genome();
  genome b = a;
  assign(b.hyperparameters, "optimiser", "adam");
  // 4 operators, 4 settings of nodes, 4 edges with 2 items each, 4 hyperparameters.
  CHECK(distance(a, b) == Approx(1.0 / 20));
}

TEST_CASE("distance: another operator and a disabled edge count as one item each") {
  const genome a = a_genome();
  genome b = a;
  b.nodes[3].op = "tanh";
  CHECK(distance(a, b) == Approx(1.0 / 20));
  b.edges[2].enabled = false;
  CHECK(distance(a, b) == Approx(2.0 / 20));
}

TEST_CASE("distance: numbers differ by their ratio") {
  const genome a = a_genome();
  genome b = a;
  assign(b.nodes[2].settings, "filters", std::int64_t{48});
  CHECK(distance(a, b) == Approx(0.5 / 20));
  assign(b.nodes[2].settings, "filters", 16.0); // another kind of value
  CHECK(distance(a, b) == Approx(1.0 / 20));
  assign(b.nodes[2].settings, "filters", std::int64_t{-16});
  CHECK(distance(a, b) == Approx(1.0 / 20));
}

TEST_CASE("distance: genes that one of them has count whole") {
  const genome empty = a_chain({});
  const genome chain = a_chain({{{}, "relu", {}}});
  // Input and output in common, a node and three edges not.
  CHECK(distance(empty, chain) == Approx(4.0 / 6));
}

TEST_CASE("distance: extreme weights do not overflow") {
  genome a = a_chain({}), b = a;
  a.edges[0].weight = std::numeric_limits<double>::max();
  b.edges[0].weight = -std::numeric_limits<double>::max();
  CHECK(distance(a, b) == Approx(0.25));
  a.edges[0].weight = std::numeric_limits<double>::denorm_min();
  b.edges[0].weight = 0;
  CHECK(distance(a, b) == Approx(0.25));
}
