#include "genome/genes/grammar.hpp"
#include "tests/support/genomes.hpp"

#include <catch2/catch.hpp>

#include <functional>

using namespace clade;
using namespace clade::test;

namespace {

/// Returns the answer of `check` for `a_genome()` after a change; "" if it is content.
std::string after(const std::function<void(genome&)>& change,
                  const grammar& rules = small_grammar()) {
  genome g = a_genome();
  change(g);
  const auto checked = check(rules, sorted(std::move(g)));
  return checked ? "" : checked.error().message;
}

} // namespace

TEST_CASE("grammar: the check says what is not allowed") {
  CHECK(after([](genome&) {}) == "");
  CHECK(after([](genome& g) { g.nodes[3].op = "tanh"; })
        == "n3: there is no operator tanh");
  CHECK(after([](genome& g) { assign(g.nodes[2].settings, "filters", std::int64_t{9}); })
        == "n2: filters cannot be 9");
  CHECK(
      after([](genome& g) { assign(g.nodes[2].settings, "filters", "16"); })
      == "n2: filters cannot be \"16\", which is a text: write a number, without quotes");
  CHECK(after([](genome& g) { clade::erase(g.nodes[2].settings, "filters"); })
        == "n2: filters is missing");
  CHECK(after([](genome& g) { assign(g.nodes[2].settings, "kernel", std::int64_t{1}); })
        == "n2: padding does not apply here");
  CHECK(after([](genome& g) { assign(g.nodes[3].settings, "slope", 0.1); })
        == "n3: has settings that it has no use for: slope=0.1");
  CHECK(after([](genome& g) { assign(g.nodes[3].settings, "merge", "add"); })
        == "n3: has settings that it has no use for: merge=add");
  CHECK(after([](genome& g) { g.nodes[1].settings.clear(); })
        == "output: merge is missing");
  CHECK(after([](genome& g) { assign(g.nodes[0].settings, "merge", "add"); })
        == "input: has settings that it has no use for: merge=add");
  CHECK(after([](genome& g) { assign(g.hyperparameters, "learning_rate", 1.0); })
        == "hyperparameters: learning_rate cannot be 1.0");
  CHECK(after([](genome& g) { assign(g.hyperparameters, "optimiser", "adam"); })
        == "hyperparameters: momentum does not apply here");
  CHECK(after([](genome& g) { assign(g.hyperparameters, "warmth", 1.0); })
        == "hyperparameters that the space does not have: warmth=1.0");
  CHECK(after([](genome& g) { g.edges.clear(); })
        == "the output is not reached from the input");
}

TEST_CASE("grammar: the check holds genomes to the limits on size") {
  grammar rules = small_grammar();
  rules.max_nodes = 1;
  CHECK(after([](genome&) {}, rules) == "2 nodes; at most 1 are allowed");
  rules = small_grammar();
  rules.max_skips = 0;
  CHECK(after([](genome&) {}, rules)
        == "1 skip edges of 4 enabled ones; at most 0 are allowed");
  const auto weigh = [](genome& g) { g.edges[0].weight = 0.5; };
  CHECK(after(weigh).find("is recurrent or weighted") != std::string::npos);
  CHECK(after([](genome& g) {
          g.edges.push_back({innovation{9}, innovation{3}, innovation{3}, true, 1, 1.0});
        })
        == "edge n3..n3 is recurrent or weighted");
}

TEST_CASE("grammar: recurrent edges are held to their number and delay") {
  grammar rules = small_grammar();
  rules.max_recurrent = 1;
  rules.longest_delay = 3;
  const auto with = [&](std::vector<edge_gene> edges) {
    return after(
        [&](genome& g) {
          for (const edge_gene& e : edges)
            g.edges.push_back(e);
          std::ranges::sort(g.edges, {}, &edge_gene::id);
        },
        rules);
  };
  const innovation a{2}, b{3};
  CHECK(with({{.id = innovation{9}, .from = b, .to = a, .delay = 4}})
        == "edge n3..n2 is delayed by 4 steps; at most 3 are allowed");
  CHECK(with({{.id = innovation{9}, .from = b, .to = a, .delay = 3},
              {.id = innovation{10}, .from = a, .to = a, .delay = 1}})
        == "2 recurrent edges; at most 1 are allowed");
  CHECK(with({{.id = innovation{9}, .from = a, .to = output_innovation, .delay = 1}})
        == "edge n2..output is recurrent, and disabled or joined to the output");
}

TEST_CASE("grammar: dead nodes and disabled edges count up to the same limits") {
  grammar rules = small_grammar();
  rules.max_nodes = 3;
  const auto with_dead = [](std::uint64_t dead) {
    return [dead](genome& g) {
      for (std::uint64_t id = 4; id < 4 + dead; ++id)
        g.nodes.push_back({innovation{id}, "relu", {}});
    };
  };
  CHECK(after(with_dead(1), rules) == "");
  CHECK(after(with_dead(2), rules) == "4 nodes; at most 3 are allowed");
  rules = small_grammar();
  rules.max_nodes = 2;
  const auto with_disabled = [](std::size_t count) {
    return [count](genome& g) {
      const std::pair<innovation, innovation> ends[] = {
          {input_innovation, output_innovation},
          {input_innovation, innovation{3}},
          {innovation{3}, innovation{2}}};
      for (std::size_t i = 0; i < count; ++i) {
        g.edges.push_back(an_edge(ends[i].first, ends[i].second));
        g.edges.back().enabled = false;
      }
    };
  };
  CHECK(after(with_disabled(2), rules) == "");
  CHECK(after(with_disabled(3), rules) == "3 disabled edges; at most 2 are allowed");
}

TEST_CASE("grammar: sampled settings are those that apply") {
  const std::vector<parameter> parameters = small_grammar().operators[0].settings;
  std::size_t with_padding = 0;
  for (std::uint64_t i = 0; i < 300; ++i) {
    random_stream random = derive(1, purpose::sample, 0, i);
    const auto settings = sample(parameters, random);
    const bool padded = find(settings, "padding") != nullptr;
    REQUIRE(padded == (*find(settings, "kernel") != value(std::int64_t{1})));
    REQUIRE(settings.size() == (padded ? 3 : 2));
    with_padding += padded ? 1 : 0;
  }
  CHECK(with_padding > 100);
  CHECK(with_padding < 300);
}

TEST_CASE("grammar: repair keeps what is right and drops and draws the rest") {
  const auto parameters = small_grammar().hyperparameters;
  random_stream random = derive(2, purpose::sample, 0, 0);
  std::vector<setting> settings{{"batch_size", std::int64_t{64}},
                                {"learning_rate", 7.0},
                                {"momentum", 0.9},
                                {"optimiser", "adam"},
                                {"warmth", 1.0}};
  repair(parameters, settings, random);
  REQUIRE(settings.size() == 3);
  CHECK(*find(settings, "batch_size") == value(std::int64_t{64}));
  CHECK(*find(settings, "optimiser") == value("adam"));
  CHECK(contains(parameters[0], *find(settings, "learning_rate")));
  assign(settings, "optimiser", "sgd");
  repair(parameters, settings, random);
  REQUIRE(find(settings, "momentum") != nullptr);
  CHECK(contains(parameters[2], *find(settings, "momentum")));
}

TEST_CASE("grammar: what is right is repaired without a draw") {
  genome g = a_genome();
  random_stream random = derive(3, purpose::sample, 0, 0), untouched = random;
  repair_nodes(small_grammar(), g, random);
  repair(small_grammar().hyperparameters, g.hyperparameters, random);
  CHECK(g == a_genome());
  CHECK(random.next() == untouched.next());
}

TEST_CASE("grammar: a node that merges draws how and one that does not forgets it") {
  const grammar rules = small_grammar();
  random_stream random = derive(4, purpose::sample, 0, 0);
  node_gene node{innovation{2}, "relu", {}};
  repair(rules, node, 2, random);
  REQUIRE(node.settings.size() == 1);
  CHECK(contains(rules.merge[0], *find(node.settings, "merge")));
  repair(rules, node, 1, random);
  CHECK(node.settings.empty());
}
