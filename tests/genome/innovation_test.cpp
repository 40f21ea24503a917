#include "genome/genes/innovation.hpp"
#include "tests/support/genomes.hpp"

#include <catch2/catch.hpp>

#include <set>

using namespace clade;
using namespace clade::test;

TEST_CASE("innovation: the same place gives the same number in every genome") {
  const innovation edge = innovation_of_edge(input_innovation, output_innovation);
  CHECK(edge == innovation{0x007bdc61a85e2e79});
  CHECK(innovation_of_split(a_chain({}), edge) == innovation{0xc2d5a6995f934842});
  CHECK(innovation_of_split(a_genome(), edge) == innovation_of_split(a_chain({}), edge));
}

TEST_CASE("innovation: a second split of an edge takes the next number of its series") {
  genome g = a_chain({});
  const innovation edge = g.edges[0].id;
  std::set<innovation> numbers;
  for (int i = 0; i < 100; ++i) {
    const innovation id = innovation_of_split(g, edge);
    REQUIRE(numbers.insert(id).second);
    g.nodes.push_back({id, "a", {}});
    g = sorted(std::move(g));
  }
  genome other = a_chain({});
  other.nodes.push_back({innovation_of_split(other, edge), "a", {}});
  CHECK(numbers.count(innovation_of_split(sorted(other), edge)) == 1);
}

TEST_CASE("innovation: direction and recurrence make another edge") {
  const innovation a{2}, b{3};
  CHECK(std::set{innovation_of_edge(a, b), innovation_of_edge(b, a),
                 innovation_of_edge(a, b, 1), innovation_of_edge(b, a, 1),
                 innovation_of_edge(a, b, 2), innovation_of_edge(a, b, 3)}
            .size()
        == 6);
}
