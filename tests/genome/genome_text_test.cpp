#include "genome/genes/genome.hpp"
#include "tests/support/genomes.hpp"

#include <catch2/catch.hpp>

using namespace clade;
using namespace clade::test;

TEST_CASE("genome text: a genome reads as its nodes with what enters them") {
  CHECK(to_text(a_genome())
        == "input\n"
           "n2  conv(filters=16, kernel=3, padding=same) <- input\n"
           "n3  relu <- n2\n"
           "output <- n2, n3 [merge add]\n"
           "batch_size=64 learning_rate=0.01 momentum=0.9 optimiser=sgd\n");
}

TEST_CASE("genome text: a genome without hyperparameters ends with the output") {
  CHECK(to_text(a_chain({})) == "input\noutput <- input\n");
}

TEST_CASE(
    "genome text: dead nodes and disabled edges are left out and so is a merge of one") {
  genome g = a_genome();
  g.nodes.push_back({innovation{4}, "dense", {}});
  g.edges.push_back(an_edge(innovation{2}, innovation{4}));
  for (edge_gene& e : g.edges)
    if (e.from == innovation{3})
      e.enabled = false;
  g.hyperparameters.clear();
  CHECK(to_text(sorted(std::move(g)))
        == "input\n"
           "n2  conv(filters=16, kernel=3, padding=same) <- input\n"
           "output <- n2\n");
}

TEST_CASE("genome text: recurrent and weighted edges say so") {
  genome g = a_chain({{{}, "sum", {}}});
  g.edges[0].weight = 0.5;
  g.edges[1].weight = 0.5;
  g.edges.push_back({innovation_of_edge(innovation{2}, innovation{2}, 1), innovation{2},
                     innovation{2}, true, 1, -2.0});
  CHECK(to_text(sorted(std::move(g)))
        == "input\n"
           "n2  sum <- 0.5 input, -2.0 n2 before\n"
           "output <- 0.5 n2\n");
}

TEST_CASE("genome text: a short name takes as many digits as tell nodes apart") {
  genome g = a_chain({{{}, "a", {}}, {{}, "b", {}}, {{}, "c", {}}});
  g.nodes[2].id = innovation{0x3f2a1b0000000001};
  g.nodes[3].id = innovation{0x3f2a1b0000000021};
  g.nodes[4].id = innovation{0x91c07fffffffffff};
  CHECK(short_name(g, g.nodes[2].id) == "n3f2a1b000000000");
  CHECK(short_name(g, g.nodes[3].id) == "n3f2a1b000000002");
  CHECK(short_name(g, g.nodes[4].id) == "n91c07f");
  CHECK(short_name(g, input_innovation) == "input");
  CHECK(to_text(g.nodes[2].id) == "n3f2a1b0000000001");
  CHECK(to_text(output_innovation) == "output");
}

TEST_CASE("genome text: a value reads back as what it is") {
  CHECK(to_text(value(std::int64_t{-3})) == "-3");
  CHECK(to_text(value(0.003)) == "0.003");
  CHECK(to_text(value(1.0)) == "1.0");
  CHECK(to_text(value(-2e30)) == "-2e+30");
  CHECK(to_text(value(1.0 / 3)) == "0.3333333333333333");
  CHECK(to_text(value("adam")) == "adam");
}

TEST_CASE("genome text: a node is its operator with settings less the merge") {
  CHECK(to_text(node_gene{innovation{2}, "relu", {}}) == "relu");
  CHECK(to_text(node_gene{innovation{2}, "relu", {{"merge", "add"}}}) == "relu");
  CHECK(to_text(node_gene{
            innovation{2}, "dense", {{"merge", "add"}, {"units", std::int64_t{9}}}})
        == "dense(units=9)");
}

TEST_CASE("genome text: a hash has 32 digits") {
  CHECK(to_text(genome_hash{0xab, 0x1}) == "00000000000000ab0000000000000001");
}
