// Spaces with recurrent edges, and the networks of steps over time that they decode to.
#include "genome/genes/innovation.hpp"
#include "search_spaces/files/load_search_space.hpp"
#include "search_spaces/operators/operators.hpp"
#include "search_spaces/operators/variation.hpp"
#include "tests/search_spaces/space_files.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace clade;

namespace {

constexpr const char* small_space = R"(
sequence = true
[limits]
max_nodes = 4
[recurrence]
max_edges = 3
longest_delay = 2
[operators.dense]
units = [2, 4]
activation = "tanh"
[operators.gru]
units = [2, 4]
)";

const problem of_sequences{.input = {{5, 3}}, .outputs = 2};

/// With a recurrent edge; -1 is the input.
genome with_recurrent(genome g, int from, int to, std::uint32_t delay) {
  const auto id = [](int n) {
    return n < 0 ? input_innovation : innovation{0x10 + static_cast<std::uint64_t>(n)};
  };
  g.edges.push_back({.id = innovation_of_edge(id(from), id(to), delay),
                     .from = id(from),
                     .to = id(to),
                     .delay = delay});
  std::ranges::sort(g.edges, {}, &edge_gene::id);
  return g;
}

node_text a_dense(std::int64_t units) {
  return {"dense", {{"activation", "tanh"}, {"units", units}}};
}

network decoded(const search_space& space, const genome& g) {
  auto n = decode(space, g, of_sequences);
  INFO((n ? "" : n.error().message));
  REQUIRE(n);
  return *n;
}

} // namespace

TEST_CASE("recurrence: a space says how many edges and how far they lead back") {
  const auto space = a_space(small_space);
  CHECK(space.rules.max_recurrent == 3);
  CHECK(space.rules.longest_delay == 2);
  CHECK(a_space("sequence = true\n[operators.gru]\n[recurrence]\n").rules.longest_delay
        == 10);
  const auto again = parse_search_space(to_toml(space), "again");
  REQUIRE(again);
  CHECK(again->rules.max_recurrent == 3);
  CHECK(again->rules.longest_delay == 2);
  CHECK(to_toml(*again) == to_toml(space));
}

TEST_CASE("recurrence: mistakes are told with their line when the space is read") {
  CHECK(complaint("[recurrence]\nmax_edges = 3\n[operators.dense]\n")
        == "a.toml:1: [recurrence] is for sequences, whose steps follow each other in "
           "time; "
           "set sequence = true at the top, or leave it out");
  CHECK(complaint("sequence = true\n[recurrence]\nmax_edges = 0\n[operators.gru]\n")
            .starts_with("a.toml:3: recurrence.max_edges"));
  CHECK(complaint("sequence = true\n[recurrence]\nmax_edge = 3\n[operators.gru]\n")
            .find("did you mean \"max_edges\"?")
        != std::string::npos);
  const std::string head = "sequence = true\n[recurrence]\n";
  CHECK(
      complaint(head + "[operators.max_pool]\n")
          .starts_with("a.toml:3: operators.max_pool cannot stand in a space with "
                       "[recurrence], whose layers take one step after the other; those "
                       "that can are "));
  CHECK(complaint(head + "[operators.gru]\ndirection = [\"forward\", \"both\"]\n")
        == "a.toml:3: operators.gru.direction cannot be \"both\" in a space with "
           "[recurrence], whose layers take one step after the other");
  CHECK(complaint(head + "[operators.mgu]\nsteps = \"last\"\n")
        == "a.toml:3: operators.mgu.steps cannot be \"last\" in a space with "
           "[recurrence], whose layers take one step after the other");
}

TEST_CASE("recurrence: all layers but the output are those of one step") {
  const auto space = a_space(small_space);
  const auto chain = a_chain({a_dense(2), {"gru", {{"units", std::int64_t{4}}}}});
  const auto n = decoded(space, with_recurrent(chain, 1, 0, 2));
  REQUIRE(n.layers.size() == 3);
  const auto& steps = n.layers[1];
  CHECK(steps.op == "over_time");
  CHECK(steps.out == tensor_shape{{4}});
  std::vector<std::string> told;
  for (const auto& l : steps.body)
    told.push_back(l.name + " " + l.op + " " + to_text(l.out));
  CHECK(told
        == std::vector<std::string>{"input input [3]", "n10.recall_n11_2 recall [3]",
                                    "n10.add add [3]", "n10 dense [2]",
                                    "n11.as_sequence as_sequence [1, 2]",
                                    "n11 gru [1, 4]", "n11.flatten flatten [4]"});
  // The layer that it recalls comes later.
  CHECK(steps.body[1].inputs == std::vector<std::size_t>{6});
  CHECK(steps.body[1].in == std::vector{tensor_shape{{4}}});
  // 3 * 4 of the recall, (3 + 1) * 2 of the plain layer, 3 * (2 + 4 + 2) * 4 of the GRU.
  CHECK(steps.cost.parameters == 12 + 8 + 96);
  CHECK(steps.cost.multiply_adds == 5 * (12 + 3 + 6 + 72));
  CHECK(n.cost().parameters == 116 + 10);
}

TEST_CASE("recurrence: what a network cannot be is refused in a sentence") {
  const auto space = a_space(small_space);
  const auto refused = [&](const genome& g, const problem& p = of_sequences) {
    const auto n = decode(space, g, p);
    return n ? "decoded" : n.error().message;
  };
  const auto chain = a_chain({a_dense(2)});
  CHECK(refused(with_recurrent(chain, 0, 0, 4)) == "decoded");
  CHECK(refused(with_recurrent(chain, 0, 0, 5))
        == "space.toml: a recurrent edge leads back 5 steps, but sequences have 5");
  // A node that no edge of the present enters.
  auto orphan = with_recurrent(
      a_genome({a_dense(2), a_dense(2)}, {{-1, 0}, {0, -2}, {1, 0}}), 0, 1, 1);
  CHECK(refused(orphan) == "space.toml: n11 has no input of the present");
  auto narrow = space;
  narrow.limits.max_width = 1;
  const auto wide = decode(narrow, chain, of_sequences);
  REQUIRE_FALSE(wide);
  CHECK(wide.error().message == "space.toml: 2 units of n10 exceed limits.max_width = 1");
}

TEST_CASE("recurrence: sampled, mutated and crossed networks keep the space's laws") {
  const auto space = real_space("recurrent.toml");
  const problem p{.input = {{8, 3}}, .outputs = 4};
  std::size_t recalls = 0;
  for (std::uint64_t i = 0; i < 300; ++i) {
    auto random = derive(1, purpose::sample, 0, i);
    auto a = sample(space, p, random), b = sample(space, p, random);
    REQUIRE((a && b));
    for (int k = 0; k < 6; ++k)
      a->child = mutate(space, p, a->child, {}, random).child;
    for (const auto& g : {a->child, cross(space, p, a->child, b->child, random).child}) {
      const auto sound = check(space.rules, g);
      INFO((sound ? "" : sound.error().message));
      REQUIRE(sound);
      const auto n = decode(space, g, p);
      REQUIRE(n);
      recalls += static_cast<std::size_t>(
          std::ranges::count(n->layers[1].body, "recall", &layer::op));
    }
  }
  CHECK(recalls > 300);
}
