#include "genome/base/random.hpp"
#include "genome/genes/genome.hpp"
#include "tests/genome/wild_genome.hpp"
#include "tests/support/genomes.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <functional>
#include <limits>

using namespace clade;
using namespace clade::test;

namespace {

/// Returns the answer of `check_structure` for `a_genome()` after a change; "" if it is
/// content.
std::string after(const std::function<void(genome&)>& change) {
  genome g = a_genome();
  change(g);
  const auto checked = check_structure(g);
  return checked ? "" : checked.error().message;
}

edge_gene& edge_between(genome& g, std::uint64_t from, std::uint64_t to) {
  return *std::ranges::find_if(g.edges, [&](const edge_gene& e) {
    return e.from == innovation{from} && e.to == innovation{to};
  });
}

void add(genome& g, edge_gene edge) {
  g.edges.push_back(edge);
  g = sorted(std::move(g));
}

} // namespace

TEST_CASE("genome: a setting is found, replaced in its place and erased by name") {
  std::vector<setting> settings;
  assign(settings, "kernel", std::int64_t{3});
  assign(settings, "filters", std::int64_t{8});
  assign(settings, "rate", 0.5);
  assign(settings, "filters", std::int64_t{16});
  CHECK(to_text(settings) == "filters=16, kernel=3, rate=0.5");
  REQUIRE(find(settings, "rate") != nullptr);
  CHECK(*find(settings, "rate") == value(0.5));
  CHECK(find(settings, "ratio") == nullptr);
  clade::erase(settings, "kernel");
  clade::erase(settings, "units");
  CHECK(to_text(settings) == "filters=16, rate=0.5");
}

TEST_CASE("genome: genes are found by innovation") {
  const genome g = a_genome();
  REQUIRE(find_node(g, innovation{3}) != nullptr);
  CHECK(find_node(g, innovation{3})->op == "relu");
  CHECK(find_node(g, innovation{4}) == nullptr);
  const edge_gene edge = an_edge(innovation{2}, innovation{3});
  REQUIRE(find_edge(g, edge.id) != nullptr);
  CHECK(*find_edge(g, edge.id) == edge);
  CHECK(find_edge(g, innovation{4}) == nullptr);
}

TEST_CASE("genome: the structure check names the invariant that does not hold") {
  CHECK(after([](genome&) {}) == "");
  CHECK(after([](genome& g) { g.nodes.clear(); })
        == "the first two nodes are not the input and the output");
  CHECK(after([](genome& g) { g.nodes[0].op = "conv"; })
        == "the first two nodes are not the input and the output");
  CHECK(after([](genome& g) { std::swap(g.nodes[2], g.nodes[3]); })
        == "node n2 is out of order or there twice");
  CHECK(after([](genome& g) { g.nodes.push_back(g.nodes.back()); })
        == "node n3 is out of order or there twice");
  CHECK(after([](genome& g) { g.nodes[2].op = "con v"; })
        == "the operator of node n2 is not a word");
  CHECK(after([](genome& g) { g.nodes[2].op = std::string(65, 'x'); })
        == "the operator of node n2 is not a word");
  CHECK(after([](genome& g) { g.nodes[3].op = "output"; })
        == "node n3 is a second output");
  CHECK(after([](genome& g) {
          std::swap(g.edges[0], g.edges[1]);
        }).find("is out of order or there twice")
        != std::string::npos);
  CHECK(after([](genome& g) { add(g, an_edge(innovation{2}, input_innovation)); })
        == "edge n2..input enters the input");
  CHECK(after([](genome& g) { add(g, an_edge(output_innovation, innovation{2})); })
        == "edge output..n2 leaves the output");
  CHECK(after([](genome& g) { add(g, an_edge(innovation{2}, innovation{9})); })
        == "an edge joins a node that is not there");
  CHECK(after([](genome& g) { add(g, an_edge(innovation{3}, innovation{2})); })
        == "the enabled edges form a cycle");
  CHECK(after([](genome& g) { add(g, an_edge(innovation{3}, innovation{3})); })
        == "the enabled edges form a cycle");
  CHECK(after([](genome& g) { edge_between(g, 0, 2).enabled = false; })
        == "the output is not reached from the input");
  CHECK(after([](genome& g) { edge_between(g, 0, 2).delay = 1; })
        == "the output is not reached from the input");
  CHECK(after([](genome& g) {
          edge_gene twin = edge_between(g, 0, 2);
          twin.id = innovation{7};
          add(g, twin);
        })
        == "two edges join the same nodes");
  CHECK(after([](genome& g) {
          edge_between(g, 0, 2).delay = longest_delay + 1;
        }).find("is delayed by 1001 steps; at most 1000 are allowed")
        != std::string::npos);
}

TEST_CASE("genome: the structure check refuses values that are not sound") {
  const double infinity = std::numeric_limits<double>::infinity();
  CHECK(after([&](genome& g) { g.edges[0].weight = infinity; }).find("is not finite")
        != std::string::npos);
  CHECK(after([](genome& g) { assign(g.hyperparameters, "momentum", std::nan("")); })
        == "hyperparameters: setting momentum is not finite, or not plain text");
  CHECK(after([](genome& g) { assign(g.nodes[2].settings, "padding", "\x1b[2J"); })
        == "node n2: setting padding is not finite, or not plain text");
  CHECK(after([](genome& g) {
          assign(g.nodes[2].settings, "padding",
                 std::string(longest_setting_text + 1, 'x'));
        })
        == "node n2: setting padding is not finite, or not plain text");
  CHECK(after([](genome& g) { g.hyperparameters[1].name = "a\n"; })
        == "hyperparameters: the name of setting 2 is not a word");
  CHECK(after([](genome& g) { std::swap(g.hyperparameters[0], g.hyperparameters[1]); })
        == "hyperparameters: setting batch_size is out of order or there twice");
}

TEST_CASE(
    "genome: what is disabled or recurrent may go backward and stays out of the order") {
  genome g = a_genome();
  edge_gene back = an_edge(innovation{3}, innovation{2});
  back.enabled = false;
  add(g, back);
  CHECK(check_structure(g).has_value());
  edge_gene memory{innovation_of_edge(innovation{3}, innovation{2}, 1),
                   innovation{3},
                   innovation{2},
                   true,
                   1,
                   1.0};
  add(g, memory);
  CHECK(check_structure(g).has_value());
  CHECK(
      topological_order(g)
      == std::vector{input_innovation, innovation{2}, innovation{3}, output_innovation});
}

TEST_CASE(
    "genome: the topological order holds live nodes alone and ties go to the smaller") {
  genome g = a_chain({{{}, "a", {}}, {{}, "b", {}}, {{}, "c", {}}});
  for (const std::uint64_t id : {9, 8, 7, 6})
    g.nodes.push_back({innovation{id}, "d", {}});
  g.edges.push_back(an_edge(input_innovation, innovation{9}));
  g.edges.push_back(an_edge(innovation{9}, output_innovation));
  g.edges.push_back(an_edge(input_innovation, innovation{8}));  // leads nowhere
  g.edges.push_back(an_edge(innovation{7}, output_innovation)); // comes from nowhere
  g.edges.push_back(an_edge(innovation{9}, innovation{3}));
  g = sorted(std::move(g));
  REQUIRE(check_structure(g).has_value());
  CHECK(topological_order(g)
        == std::vector{input_innovation, innovation{2}, innovation{9}, innovation{3},
                       innovation{4}, output_innovation});
}

TEST_CASE("genome: in wild genomes every edge goes forward in the topological order") {
  for (std::uint64_t i = 0; i < 2'000; ++i) {
    random_stream random = derive(1, purpose::sample, 0, i);
    const genome g = a_wild_genome({}, random);
    REQUIRE(check_structure(g).has_value());
    const auto order = topological_order(g);
    REQUIRE(order.front() == input_innovation);
    const bool recurrent = std::ranges::any_of(g.edges, &edge_gene::recurrent);
    REQUIRE((recurrent || order.back() == output_innovation));
    const auto place = [&](innovation id) {
      return std::ranges::find(order, id) - order.begin();
    };
    for (const edge_gene& e : g.edges)
      if (e.is_forward() && place(e.from) < std::ssize(order)
          && place(e.to) < std::ssize(order))
        REQUIRE(place(e.from) < place(e.to));
  }
}
