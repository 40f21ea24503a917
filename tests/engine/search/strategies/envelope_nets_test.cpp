#include "engine/search/strategies/evolution/branches.hpp"
#include "engine/search/strategies/evolution/envelope_nets.hpp"
#include "engine/search/strategies/registry/validation.hpp"
#include "genome/variation/rewiring.hpp"
#include "search_spaces/files/load_search_space.hpp"
#include "tests/engine/search/real_world.hpp"
#include "tests/support/small_space.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <set>

using namespace clade;

namespace {

constexpr std::string_view envelopes = R"(
[limits]
max_nodes = 6
max_skips = 0
initial_nodes = 2
[composites.branch]
layers = [{op = "dense", units = "=channels"}]
[composites.envelope]
layers = [
  {op = "dense", name = "entry", units = "=units"},
  {op = "=a", name = "one", from = "entry"},
  {op = "=b", name = "two", from = "entry"},
  {op = "=c", name = "three", from = "entry"},
  {op = "add", from = ["entry", "one", "two", "three"]},
]
[composites.envelope.parameters]
units = {low = 1, high = 16, default = 8, width = true}
a = {words = ["branch", "zero"]}
b = {words = ["branch", "zero"]}
c = {words = ["branch", "zero"]}
[operators.envelope]
words = "all"
units = [8]
[hyperparameters]
learning_rate = {low = 0.001, high = 0.1, log = true}
)";

std::shared_ptr<const search_space> space() {
  auto parsed = parse_search_space(envelopes, "envelopes.toml");
  INFO((parsed ? "" : parsed.error().message));
  REQUIRE(parsed);
  return std::make_shared<const search_space>(std::move(*parsed));
}

node_gene an_envelope(const char* a, const char* b, const char* c) {
  return {{}, "envelope", {{"a", a}, {"b", b}, {"c", c}, {"units", std::int64_t{8}}}};
}

genome two_envelopes() {
  auto g = chain_genome(
      {an_envelope("branch", "branch", "zero"), an_envelope("branch", "zero", "zero")});
  g.hyperparameters = {{"learning_rate", 0.01}};
  return g;
}

/// Importances of the branches that are there, in their order.
std::vector<branch_importance> measured(const search_space& s, const genome& g,
                                        std::vector<double> values) {
  std::vector<branch_importance> all;
  for (const auto& b : branches_of(s.rules, g))
    if (!b.pruned()) {
      all.push_back({to_text(b.node), b.parameter, values.front()});
      values.erase(values.begin());
    }
  return all;
}

std::size_t pruned(const search_space& s, const genome& g) {
  return static_cast<std::size_t>(
      std::ranges::count_if(branches_of(s.rules, g), &branch::pruned));
}

random_stream some(std::uint64_t index) {
  return derive(1, purpose::mutation, 0, index);
}

/// How much a branch matters in a made-up world: b does, the others cost more than they
/// give.
double worth(const std::string& parameter) {
  return parameter == "b" ? 1.0 : parameter == "a" ? 0.1 : 0.02;
}

/// 1 for networks of six envelopes that have b alone.
double fitness(const search_space& s, const genome& g) {
  double sum = 0;
  for (const auto& b : branches_of(s.rules, g))
    sum += b.pruned() ? 0 : worth(b.parameter) - 0.3;
  return sum / (6 * 0.7);
}

simulation world(const std::string& strategy, std::uint64_t seed) {
  const auto s = space();
  const evolution_params params{.strategy = strategy,
                                .population = 8,
                                .generations = 12,
                                .tournament = 3,
                                .in_flight = 2};
  auto all =
      real_simulation(params, seed, s, [s](const genome& g) { return fitness(*s, g); });
  all.evaluate = [s, plain = all.evaluate](const candidate& c) {
    auto e = plain(c);
    std::vector<branch_importance> branches;
    for (const auto& b : branches_of(s->rules, *c.genome))
      if (!b.pruned())
        branches.push_back({to_text(b.node), b.parameter, worth(b.parameter)});
    e.branches = std::move(branches);
    return e;
  };
  return all;
}

} // namespace

TEST_CASE("branches: those of a genome, and what was measured of them") {
  const auto s = space();
  const auto g = two_envelopes();
  const auto all = branches_of(s->rules, g, measured(*s, g, {1, 2, 3}));
  REQUIRE(all.size() == 6);
  CHECK(std::ranges::count_if(all, &branch::pruned) == 3);
  for (const auto& b : all)
    CHECK(b.importance.has_value() != b.pruned());
}

TEST_CASE("branches: the least important ones are pruned, and never all") {
  const auto s = space();
  const auto g = chain_genome({an_envelope("branch", "branch", "branch"),
                               an_envelope("branch", "branch", "branch")});
  for (std::uint64_t i = 0; i < 200; ++i) {
    auto random = some(i);
    std::vector<double> values;
    for (int v = 0; v < 6; ++v)
      values.push_back(random.uniform());
    const auto count = 1 + random.below(8);
    auto child = g;
    const auto all = branches_of(s->rules, g, measured(*s, g, values));
    const auto changes = prune_branches(child, all, count, 0, random);
    const auto gone = std::min<std::size_t>(count, 5);
    REQUIRE(changes.size() == gone);
    REQUIRE(pruned(*s, child) == gone);
    std::ranges::sort(values);
    for (const auto& b : branches_of(s->rules, child)) {
      const auto before = std::ranges::find_if(all, [&](const branch& o) {
                            return o.node == b.node && o.parameter == b.parameter;
                          })->importance;
      CHECK(b.pruned() == (*before <= values[gone - 1]));
    }
  }
}

TEST_CASE("branches: with some to spare others are pruned now and then") {
  const auto s = space();
  const auto g = two_envelopes();
  const auto all = branches_of(s->rules, g, measured(*s, g, {1, 2, 3}));
  std::set<std::string> texts;
  for (std::uint64_t i = 0; i < 50; ++i) {
    auto random = some(i);
    auto child = g;
    texts.insert(to_text(prune_branches(child, all, 1, 1, random)));
  }
  CHECK(texts.size() == 2);
}

TEST_CASE("branches: what nobody has measured is pruned by chance") {
  const auto s = space();
  const auto g = two_envelopes();
  std::set<std::string> texts;
  for (std::uint64_t i = 0; i < 50; ++i) {
    auto random = some(i);
    auto child = g;
    texts.insert(to_text(prune_branches(child, branches_of(s->rules, g), 1, 0, random)));
  }
  CHECK(texts.size() == 3);
}

TEST_CASE("branches: a node whose branches matter grows more often") {
  const auto s = space();
  const auto g = two_envelopes();
  auto values = std::vector<double>{1, 1, 1};
  // Nodes are in the order of their innovations.
  const auto first = branches_of(s->rules, g).front().node;
  const bool first_has_two =
      pruned(*s, g) == 3 && *find(find_node(g, first)->settings, "b") == value("branch");
  (first_has_two ? values[2] : values[0]) = 20;
  const auto all = branches_of(s->rules, g, measured(*s, g, values));
  int of_the_important = 0;
  for (std::uint64_t i = 0; i < 200; ++i) {
    auto random = some(i);
    auto child = g;
    REQUIRE(grow_branch(s->rules, child, all, random));
    REQUIRE(check(s->rules, child));
    REQUIRE(pruned(*s, child) == 2);
    for (const auto& b : branches_of(s->rules, child))
      if (!b.pruned() && find(find_node(g, b.node)->settings, b.parameter) != nullptr
          && *find(find_node(g, b.node)->settings, b.parameter) == value("zero"))
        of_the_important += (b.node == first) != first_has_two ? 1 : 0;
  }
  CAPTURE(of_the_important);
  CHECK(of_the_important > 150);
}

TEST_CASE("branches: a node is followed by a copy of itself with all branches") {
  const auto s = space();
  auto g = two_envelopes();
  for (std::uint64_t i = 0; i < 4; ++i) {
    auto random = some(i);
    const auto before = pruned(*s, g);
    REQUIRE(grow_node(s->rules, g, branches_of(s->rules, g), random));
    CHECK(g.nodes.size() == 2 + 3 + i);
    CHECK(pruned(*s, g) == before);
    REQUIRE(check(s->rules, g));
  }
  auto random = some(9);
  CHECK_FALSE(grow_node(s->rules, g, branches_of(s->rules, g), random)); // max_nodes
}

TEST_CASE("envelope nets: they find what matters sooner than regularised evolution") {
  double pruning = 0, ageing = 0;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    pruning += best_curve(simulate(world("envelopenets", seed))).back();
    ageing += best_curve(simulate(world("regularized", seed))).back();
  }
  CAPTURE(pruning / 8, ageing / 8);
  CHECK(pruning > ageing);
  CHECK(pruning / 8 > 0.8);
}

TEST_CASE("envelope nets: a search that was stopped goes on as it would have") {
  const auto s = world("envelopenets", 3);
  const auto whole = simulate(s);
  std::vector<record> stored;
  for (std::size_t i = 0; i < whole.records.size() / 2; ++i) {
    const auto data = encode(whole.records[i]);
    auto again = decode_record(data);
    REQUIRE(again);
    stored.push_back(std::move(*again));
  }
  const auto resumed = simulate(s, stored);
  REQUIRE(resumed.records.size() == whole.records.size());
  for (std::size_t i = 0; i < whole.records.size(); ++i)
    CHECK(encode(resumed.records[i]) == encode(whole.records[i]));
}

TEST_CASE("envelope nets: with inherited weights a child starts from its parent") {
  auto s = world("envelopenets", 1);
  s.rules.evolution.inherit = true;
  std::size_t started = 0;
  for (const auto& c : trained(simulate(s)))
    if (!c.parents.empty()) {
      CHECK(c.start != 0);
      ++started;
    }
  CHECK(started > 40);
}

TEST_CASE("envelope nets: a space without branches is refused in a sentence") {
  const evolution_params params{.strategy = "envelopenets"};
  CHECK(check_strategy(params, *space()));
  const auto refused = check_strategy(params, *space_of_choices(2, 2));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message
        == "evolution.strategy = \"envelopenets\" prunes and grows branches, and no "
           "operator of numbers.toml has a parameter for which \"zero\" is a word (as "
           "search_spaces/envelope.toml has); take \"regularized\"");
}
