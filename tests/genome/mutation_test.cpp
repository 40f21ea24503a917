#include "genome/genes/hash.hpp"
#include "genome/variation/mutation.hpp"
#include "genome/variation/rewiring.hpp"
#include "tests/support/genomes.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <set>

using namespace clade;
using namespace clade::test;

namespace {

/// All weights 0 but one.
mutation_params only(double mutation_params::*kind) {
  mutation_params params{.add_node = 0,
                         .add_edge = 0,
                         .remove_node = 0,
                         .remove_edge = 0,
                         .change_operator = 0,
                         .widen = 0,
                         .narrow = 0,
                         .change_setting = 0,
                         .change_hyperparameter = 0,
                         .add_recurrent_edge = 0,
                         .remove_recurrent_edge = 0,
                         .again = 0};
  params.*kind = 1;
  return params;
}

offspring mutated(const genome& parent, const mutation_params& params,
                  std::uint64_t index, const grammar& rules = small_grammar()) {
  random_stream random = derive(1, purpose::mutation, 0, index);
  return mutate(rules, parent, params, random);
}

/// Every outcome of one kind on `a_genome()`, by its text.
std::set<std::string> outcomes(double mutation_params::*kind) {
  std::set<std::string> texts;
  for (std::uint64_t i = 0; i < 200; ++i) {
    const offspring born = mutated(a_genome(), only(kind), i);
    REQUIRE(check(small_grammar(), born.child).has_value());
    REQUIRE(canonical_hash(born.child) != canonical_hash(a_genome()));
    texts.insert(to_text(born.changes));
  }
  return texts;
}

std::string graph(genome g) {
  g.hyperparameters.clear();
  return to_text(g);
}

} // namespace

TEST_CASE("mutation: one child is this for ever") {
  const offspring born = mutated(a_genome(), {}, 12);
  CHECK(to_text(born.changes)
        == "n2 filters 16 -> 8; add relu on n3..output; learning_rate 0.01 -> 0.01805");
  CHECK(to_text(canonical_hash(born.child)) == "c78c8a37737e498f4e350994a8797344");
  random_stream random = derive(1, purpose::sample, 0, 0);
  CHECK(to_text(sample_genome(small_grammar(), random))
        == "input\n"
           "nc2d5a6  conv(filters=32, kernel=1) <- input\n"
           "n99e1d3  conv(filters=32, kernel=1) <- nc2d5a6\n"
           "output <- n99e1d3\n"
           "batch_size=32 learning_rate=0.02613 momentum=0.5175 optimiser=sgd\n");
}

TEST_CASE("mutation: a node is added on an edge and the edge is disabled") {
  const grammar rules = small_grammar();
  const genome parent = a_chain({});
  random_stream random = derive(2, purpose::mutation, 0, 0);
  const offspring born = mutate(rules, parent, only(&mutation_params::add_node), random);
  REQUIRE(born.child.nodes.size() == 3);
  CHECK(to_text(born.changes)
        == "add " + to_text(born.child.nodes[2]) + " on input..output");
  CHECK(born.child.nodes[2].id == innovation_of_split(parent, parent.edges[0].id));
  REQUIRE(find_edge(born.child, parent.edges[0].id) != nullptr);
  CHECK_FALSE(find_edge(born.child, parent.edges[0].id)->enabled);
  CHECK(born.child.edges.size() == 3);
}

TEST_CASE(
    "mutation: an edge is added where there is none and the node that it enters merges") {
  CHECK(outcomes(&mutation_params::add_edge)
        == std::set<std::string>{"add edge input..n3", "add edge input..output"});
  for (std::uint64_t i = 0;; ++i) {
    const offspring born = mutated(a_genome(), only(&mutation_params::add_edge), i);
    if (to_text(born.changes) != "add edge input..n3")
      continue;
    CHECK(find(born.child.nodes[3].settings, "merge") != nullptr);
    break;
  }
}

TEST_CASE("mutation: removing a node joins what it joined and is undone by no trace") {
  CHECK(outcomes(&mutation_params::remove_node)
        == std::set<std::string>{"remove n2 conv(filters=16, kernel=3, padding=same)",
                                 "remove n3 relu"});
  const genome chain = a_chain({{{}, "relu", {}}});
  const offspring born = mutated(chain, only(&mutation_params::remove_node), 0);
  CHECK(to_text(born.changes) == "remove n2 relu");
  CHECK(graph(born.child) == "input\noutput <- input\n");
  CHECK(born.child.edges.size() == 1);
}

TEST_CASE("mutation: a removed hub joins all with all unless that makes too many skips") {
  // Two before the hub n4 and two behind it.
  genome g = a_chain({{{}, "relu", {}}});
  g.nodes = {{input_innovation, "input", {}},
             {output_innovation, "output", {{"merge", "add"}}},
             {innovation{2}, "relu", {}},
             {innovation{3}, "dense", {{"units", std::int64_t{4}}}},
             {innovation{4}, "relu", {{"merge", "add"}}},
             {innovation{5}, "relu", {}},
             {innovation{6}, "dense", {{"units", std::int64_t{4}}}}};
  g.edges.clear();
  for (const auto& [from, to] :
       {std::pair{0, 2}, {0, 3}, {2, 4}, {3, 4}, {4, 5}, {4, 6}, {5, 1}, {6, 1}})
    g.edges.push_back(an_edge(innovation(from), innovation(to)));
  g = sorted(std::move(g));
  for (const std::size_t max_skips : {2, 3}) {
    grammar rules = small_grammar();
    rules.max_skips = max_skips;
    for (std::uint64_t i = 0;; ++i) {
      const offspring born = mutated(g, only(&mutation_params::remove_node), i, rules);
      if (to_text(born.changes) != "remove n4 relu")
        continue;
      std::set<std::pair<std::uint64_t, std::uint64_t>> joined;
      for (const edge_gene& e : born.child.edges)
        if (e.from != input_innovation && e.to != output_innovation)
          joined.emplace(static_cast<std::uint64_t>(e.from),
                         static_cast<std::uint64_t>(e.to));
      using pairs = std::set<std::pair<std::uint64_t, std::uint64_t>>;
      CHECK(joined
            == (max_skips == 3 ? pairs{{2, 5}, {2, 6}, {3, 5}, {3, 6}}
                               : pairs{{2, 5}, {2, 6}, {3, 5}}));
      break;
    }
  }
}

TEST_CASE("mutation: only an edge that nothing depends on is removed and its merge is "
          "forgotten") {
  CHECK(outcomes(&mutation_params::remove_edge)
        == std::set<std::string>{"remove edge n2..output"});
  const offspring born = mutated(a_genome(), only(&mutation_params::remove_edge), 0);
  CHECK(born.child.nodes[1].settings.empty());
  CHECK(born.child.edges.size() == 3);
}

TEST_CASE("mutation: an operator is changed and settings of the same name stay") {
  grammar rules = small_grammar();
  rules.operators.push_back(rules.operators[0]);
  rules.operators.back().name = "depthwise";
  rules.operators[1].weight = rules.operators[2].weight = 0;
  for (std::uint64_t i = 0;; ++i) {
    const offspring born =
        mutated(a_genome(), only(&mutation_params::change_operator), i, rules);
    if (!to_text(born.changes).starts_with("n2"))
      continue;
    CHECK(to_text(born.changes)
          == "n2 conv(filters=16, kernel=3, padding=same) -> "
             "depthwise(filters=16, kernel=3, padding=same)");
    CHECK(born.child.nodes[2].settings == a_genome().nodes[2].settings);
    break;
  }
  for (const std::string& text : outcomes(&mutation_params::change_operator))
    CHECK((text.starts_with("n3 relu -> conv(")
           || text.starts_with("n3 relu -> dense(units=")
           || text.starts_with("n2 conv(filters=16, kernel=3, padding=same) -> ")));
}

TEST_CASE("mutation: widths go one step up or down") {
  CHECK(outcomes(&mutation_params::widen)
        == std::set<std::string>{"widen n2 filters 16 -> 32"});
  CHECK(outcomes(&mutation_params::narrow)
        == std::set<std::string>{"narrow n2 filters 16 -> 8"});
}

TEST_CASE("mutation: any setting of any node may change and what depends on it follows") {
  CHECK(outcomes(&mutation_params::change_setting)
        == std::set<std::string>{
            "n2 filters 16 -> 32", "n2 filters 16 -> 8", "n2 kernel 3 -> 1",
            "n2 kernel 3 -> 5", "n2 padding same -> none", "output merge add -> concat"});
}

TEST_CASE("mutation: hyperparameters change and those that stop applying disappear") {
  bool switched = false;
  for (const std::string& text : outcomes(&mutation_params::change_hyperparameter))
    switched = switched || text == "optimiser sgd -> adam";
  CHECK(switched);
  for (std::uint64_t i = 0;; ++i) {
    const offspring born =
        mutated(a_genome(), only(&mutation_params::change_hyperparameter), i);
    if (to_text(born.changes) != "optimiser sgd -> adam")
      continue;
    CHECK(to_text(born.child.hyperparameters)
          == "batch_size=64, learning_rate=0.01, optimiser=adam");
    break;
  }
}

TEST_CASE("mutation: a kind without room is passed over and no room at all is said") {
  grammar rules;
  rules.max_nodes = 0;
  rules.max_skips = 0;
  const offspring nothing = mutated(a_chain({}), {}, 0, rules);
  CHECK(nothing.child == a_chain({}));
  CHECK(to_text(nothing.changes) == "unchanged");
  rules.hyperparameters = {{"rate", real_domain{}, {}, false}};
  genome g = a_chain({});
  g.hyperparameters = {{"rate", 0.5}};
  for (std::uint64_t i = 0; i < 100; ++i)
    CHECK(mutated(g, {}, i, rules).child != g);
}

TEST_CASE("mutation: kinds come as often as their weights say") {
  mutation_params params = only(&mutation_params::widen);
  params.narrow = 3;
  int wider = 0;
  for (std::uint64_t i = 0; i < 4'000; ++i)
    wider +=
        mutated(a_genome(), params, i).changes.front().kind == change_kind::widen ? 1 : 0;
  CHECK(std::abs(wider - 1'000) < 120);
}

TEST_CASE("mutation: the chance of another change gives as many as it says") {
  mutation_params params;
  params.again = 0.3;
  std::size_t changes = 0;
  for (std::uint64_t i = 0; i < 10'000; ++i) {
    changes += mutated(a_genome(), params, i).changes.size();
  }
  // 1 / (1 - 0.3), and a little more for changes that cancelled out.
  CHECK(std::fabs(static_cast<double>(changes) / 10'000 - 1.43) < 0.05);
}

TEST_CASE("mutation: changes that cancel out are followed by one more") {
  mutation_params params = only(&mutation_params::widen);
  params.narrow = 1;
  params.again = 0.9;
  for (std::uint64_t i = 0; i < 2'000; ++i) {
    const offspring born = mutated(a_genome(), params, i);
    REQUIRE((born.child != a_genome() || born.changes.size() == 10));
  }
}

namespace {

grammar recurrent_grammar() {
  grammar rules = small_grammar();
  rules.max_recurrent = 3;
  rules.longest_delay = 4;
  return rules;
}

std::size_t count_recurrent(const genome& g) {
  return static_cast<std::size_t>(std::ranges::count_if(g.edges, &edge_gene::recurrent));
}

} // namespace

TEST_CASE("mutation: recurrent edges come and go, and obey their grammar") {
  const auto rules = recurrent_grammar();
  std::set<std::uint32_t> delays;
  std::set<std::size_t> counts;
  std::set<change_kind> kinds;
  bool to_itself = false, from_input = false;
  genome g = a_genome();
  for (std::uint64_t i = 0; i < 3'000; ++i) {
    const offspring born = mutated(g, {}, i, rules);
    for (const auto& c : born.changes)
      kinds.insert(c.kind);
    g = born.child;
    CAPTURE(to_text(g));
    const auto sound = check(rules, g);
    INFO((sound ? "" : sound.error().message));
    REQUIRE(sound.has_value());
    counts.insert(count_recurrent(g));
    for (const edge_gene& e : g.edges)
      if (e.recurrent()) {
        delays.insert(e.delay);
        to_itself = to_itself || e.from == e.to;
        from_input = from_input || e.from == input_innovation;
      }
  }
  CHECK(kinds.contains(change_kind::add_recurrent_edge));
  CHECK(kinds.contains(change_kind::remove_recurrent_edge));
  CHECK(counts == std::set<std::size_t>{0, 1, 2, 3});
  CHECK(delays == std::set<std::uint32_t>{1, 2, 3, 4});
  CHECK(to_itself);
  CHECK(from_input);
}

TEST_CASE("mutation: a grammar without recurrent edges draws as if there were none") {
  mutation_params none;
  none.add_recurrent_edge = none.remove_recurrent_edge = 0;
  for (std::uint64_t i = 0; i < 300; ++i)
    REQUIRE(mutated(a_genome(), {}, i).child == mutated(a_genome(), none, i).child);
}

TEST_CASE("mutation: recurrent edges that a grammar does not have are not handed down") {
  genome g = a_genome();
  for (const std::uint32_t delay : {1, 2, 9})
    g.edges.push_back(an_edge(innovation{3}, innovation{2}, delay));
  g = sorted(std::move(g));
  const auto widen = only(&mutation_params::widen);
  CHECK(count_recurrent(mutated(g, widen, 0).child) == 0);
  const auto child = mutated(g, widen, 0, recurrent_grammar()).child;
  CHECK(count_recurrent(child) == 2); // The third leads back too far.
  // A node that only a recurrent edge joins to the output takes no part.
  g.nodes.push_back({innovation{4}, "relu", {}});
  g.edges.push_back(an_edge(input_innovation, innovation{4}));
  g.edges.push_back(an_edge(innovation{4}, innovation{2}, 1));
  const auto pruned = mutated(sorted(std::move(g)), widen, 0, recurrent_grammar()).child;
  CHECK(find_node(pruned, innovation{4}) == nullptr);
  CHECK(check(recurrent_grammar(), pruned).has_value());
}

TEST_CASE("mutation: dead nodes of a parent are not handed down") {
  genome g = a_genome();
  g.nodes.push_back({innovation{4}, "relu", {}});
  g.edges.push_back(an_edge(innovation{2}, innovation{4}));
  g = sorted(std::move(g));
  REQUIRE(check(small_grammar(), g).has_value());
  const offspring born = mutated(g, only(&mutation_params::widen), 0);
  CHECK(to_text(born.changes) == "widen n2 filters 16 -> 32");
  CHECK(find_node(born.child, innovation{4}) == nullptr);
  CHECK(check(small_grammar(), born.child).has_value());
}

TEST_CASE(
    "mutation: disabled edges beyond the limit go with the greatest innovations first") {
  genome g = a_chain({{{}, "relu", {}}, {{}, "relu", {}}});
  for (const auto& [from, to] : {std::pair{0, 3}, {0, 1}, {2, 1}}) {
    g.edges.push_back(an_edge(innovation(from), innovation(to)));
    g.edges.back().enabled = false;
  }
  g = sorted(std::move(g));
  std::vector<innovation> disabled;
  for (const edge_gene& e : g.edges)
    if (!e.enabled)
      disabled.push_back(e.id);
  grammar rules = small_grammar();
  rules.max_nodes = 2;
  prune(rules, g);
  CHECK(find_edge(g, disabled[0]) != nullptr);
  CHECK(find_edge(g, disabled[1]) != nullptr);
  CHECK(find_edge(g, disabled[2]) == nullptr);
}

TEST_CASE("mutation: sampled genomes obey the grammar and differ") {
  std::set<genome_hash> hashes;
  std::set<std::size_t> sizes;
  std::size_t with_skip = 0;
  for (std::uint64_t i = 0; i < 2'000; ++i) {
    random_stream random = derive(3, purpose::sample, 0, i);
    const genome g = sample_genome(small_grammar(), random);
    const auto checked = check(small_grammar(), g);
    CAPTURE(to_text(g));
    REQUIRE(checked.has_value());
    hashes.insert(canonical_hash(g));
    sizes.insert(g.nodes.size() - 2);
    with_skip += g.edges.size() > g.nodes.size() - 1 ? 1 : 0;
  }
  CHECK(hashes.size() > 1'900);
  CHECK(sizes == std::set<std::size_t>{1, 2, 3});
  CHECK(std::abs(static_cast<int>(with_skip) - 500) < 100);
}

TEST_CASE("mutation: nodes of sampled genomes line up by innovation") {
  std::set<innovation> ids;
  for (std::uint64_t i = 0; i < 100; ++i) {
    random_stream random = derive(4, purpose::sample, 0, i);
    for (const node_gene& node : sample_genome(small_grammar(), random).nodes)
      ids.insert(node.id);
  }
  CHECK(ids.size() == 5);
}

TEST_CASE("mutation: params out of range are refused by name") {
  CHECK(validate(mutation_params{}).has_value());
  CHECK(validate({.remove_node = -1}).error().message
        == "mutation.remove_node is -1.0; a weight is 0 or more");
  CHECK(validate({.widen = std::nan("")}).error().message
        == "mutation.widen is nan; a weight is 0 or more");
  CHECK(validate({.again = 1}).error().message
        == "mutation.again is 1.0; it is a chance from 0 to 0.9");
  mutation_params none = only(&mutation_params::widen);
  none.widen = 0;
  CHECK(validate(none).error().message
        == "mutation: one weight at least must be above 0, and their sum finite");
}
