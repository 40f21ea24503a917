#include "genome/codec/codec.hpp"
#include "genome/genes/hash.hpp"
#include "genome/genes/wiring.hpp"
#include "genome/variation/crossover.hpp"
#include "genome/variation/mutation.hpp"
#include "tests/genome/wild_genome.hpp"
#include "tests/support/genomes.hpp"

#include <catch2/catch.hpp>
#include <rapidcheck.h>

using namespace clade;
using namespace clade::test;

// Whatever variation yields is valid by construction: shown over 100,000 chains of
// sampling, mutation and crossover under grammars that are wide, tight or degenerate. A
// chain is a pure function of its number, which a failure prints.

namespace {

/// Grammars under which limits are met at every turn, or never.
std::vector<grammar> some_grammars() {
  std::vector<grammar> all(7, small_grammar());
  all[1].max_nodes = 1;
  all[1].max_skips = 1;
  all[2].max_skips = 0;
  all[3].max_nodes = 12;
  all[3].max_skips = 20;
  all[3].initial_nodes = 9;
  all[4].operators.clear();
  all[5].merge.clear();
  all[5].hyperparameters.clear();
  all[6].max_nodes = 0;
  return all;
}

void require_valid(const grammar& rules, const genome& g) {
  const auto checked = check(rules, g);
  if (!checked)
    FAIL(checked.error().message << "\n" << to_text(g));
  if (wiring(g).order().size() != g.nodes.size())
    FAIL("a node is dead\n" << to_text(g));
}

genome a_mutant(const grammar& rules, const genome& parent, random_stream& random) {
  offspring born = mutate(rules, parent, {}, random);
  require_valid(rules, born.child);
  const bool unchanged = born.changes.front().kind == change_kind::unchanged;
  if (unchanged != (born.child == parent))
    FAIL(to_text(born.changes) << " from\n"
                               << to_text(parent) << "gave\n"
                               << to_text(born.child));
  if (!unchanged && canonical_hash(born.child) == canonical_hash(parent))
    FAIL(to_text(born.changes) << " left the network as it was\n" << to_text(parent));
  return std::move(born.child);
}

} // namespace

TEST_CASE(
    "chains: 100000 chains of mutation and crossover obey their grammar throughout") {
  const auto grammars = some_grammars();
  for (std::uint64_t i = 0; i < 100'000; ++i) {
    INFO("chain " << i);
    const grammar& rules = grammars[i % grammars.size()];
    random_stream random = derive(2024, purpose::mutation, 0, i);
    genome a = sample_genome(rules, random), b = sample_genome(rules, random);
    require_valid(rules, a);
    for (int step = 0; step < 3; ++step) {
      b = a_mutant(rules, cross(rules, a, b, random), random);
      a = a_mutant(rules, a, random);
    }
    const genome child = cross(rules, a, b, random);
    require_valid(rules, child);
    if (i % 16 == 0 && *decode_genome(encode(child)) != child)
      FAIL("the codec changed\n" << to_text(child));
  }
}

TEST_CASE("chains: a line of 20000 generations does not grow without bound") {
  const grammar rules = small_grammar();
  random_stream first = derive(5, purpose::sample, 0, 0);
  genome g = sample_genome(rules, first);
  std::size_t most_edges = 0;
  for (std::uint64_t generation = 0; generation < 20'000; ++generation) {
    random_stream random = derive(5, purpose::mutation, generation, 0);
    g = a_mutant(rules, g, random);
    most_edges = std::max(most_edges, g.edges.size());
  }
  // A chain of 6 nodes has 7 edges; 3 skips; 6 disabled.
  CHECK(most_edges <= 16);
  CHECK(encode(g).size() < 1'000);
}

TEST_CASE("chains: genomes that obey no grammar have children that are sound") {
  const auto grammars = some_grammars();
  for (std::uint64_t i = 0; i < 10'000; ++i) {
    INFO("chain " << i);
    const grammar& rules = grammars[i % grammars.size()];
    random_stream random = derive(6, purpose::mutation, 0, i);
    genome a = a_wild_genome({.nodes = 12}, random);
    const genome b = a_wild_genome({.nodes = 12}, random);
    for (int step = 0; step < 3; ++step) {
      a = cross(rules, mutate(rules, a, {}, random).child, b, random);
      const auto checked = check_structure(a);
      if (!checked)
        FAIL(checked.error().message << "\n" << to_text(a));
    }
  }
}

TEST_CASE("chains: any grammar at all gives valid children") {
  CHECK(rc::check("limits and domains at random", [] {
    grammar rules = small_grammar();
    rules.max_nodes = *rc::gen::inRange<std::size_t>(0, 9);
    rules.max_skips = *rc::gen::inRange<std::size_t>(0, 9);
    rules.initial_nodes = *rc::gen::inRange<std::size_t>(0, 12);
    const auto operators = *rc::gen::inRange<std::size_t>(0, 4);
    rules.operators.resize(operators);
    for (operator_rule& rule : rules.operators)
      rule.weight = *rc::gen::inRange(0, 3);
    const auto low = *rc::gen::inRange<std::int64_t>(-5, 6);
    const auto size = *rc::gen::inRange<std::int64_t>(0, 50);
    const auto step = *rc::gen::inRange<std::int64_t>(1, 9);
    rules.hyperparameters.push_back(
        {"whole", integer_domain{low, low + size, step, low > 0}, {}, false});
    random_stream random =
        derive(*rc::gen::arbitrary<std::uint64_t>(), purpose::mutation, 0, 0);
    genome a = sample_genome(rules, random);
    require_valid(rules, a);
    for (int i = 0; i < 20; ++i) {
      const genome b = a_mutant(rules, a, random);
      a = cross(rules, b, a, random);
      require_valid(rules, a);
    }
  }));
}
