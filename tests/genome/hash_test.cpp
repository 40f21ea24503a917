#include "genome/genes/hash.hpp"
#include "tests/genome/wild_genome.hpp"
#include "tests/support/genomes.hpp"

#include <catch2/catch.hpp>

#include <functional>
#include <map>
#include <set>

using namespace clade;
using namespace clade::test;

namespace {

edge_gene& edge_between(genome& g, std::uint64_t from, std::uint64_t to) {
  return *std::ranges::find_if(g.edges, [&](const edge_gene& e) {
    return e.from == innovation{from} && e.to == innovation{to};
  });
}

/// input -> one of two, joined at the output.
genome a_fork(std::vector<setting> left, std::vector<setting> right) {
  genome g = a_chain({{{}, "dense", std::move(left)}});
  g.nodes[1].settings = {{"merge", "concat"}};
  g.nodes.push_back({innovation{3}, "dense", std::move(right)});
  g.edges.push_back(an_edge(input_innovation, innovation{3}));
  g.edges.push_back(an_edge(innovation{3}, output_innovation));
  return sorted(std::move(g));
}

/// The least text of a plain genome's live part over all ways to number its inner nodes:
/// equal for two genomes if and only if they are the same network.
std::string least_text(const genome& g) {
  std::vector<innovation> inner = topological_order(g);
  std::erase(inner, input_innovation);
  std::erase(inner, output_innovation);
  std::ranges::sort(inner);
  std::string least;
  do {
    std::map<innovation, int> number{{input_innovation, 0}, {output_innovation, 1}};
    std::string text;
    for (const innovation id : inner) {
      number[id] = static_cast<int>(number.size());
      text += find_node(g, id)->op + " ";
    }
    std::set<std::string> edges;
    for (const edge_gene& e : g.edges)
      if (number.count(e.from) != 0 && number.count(e.to) != 0)
        edges.insert(std::to_string(number[e.from]) + (e.recurrent() ? "~" : "-")
                     + std::to_string(number[e.to]));
    for (const std::string& e : edges)
      text += e + " ";
    if (least.empty() || text < least)
      least = text;
  } while (std::ranges::next_permutation(inner).found);
  return least;
}

} // namespace

TEST_CASE("hash: the canonical hash of one genome is this for ever") {
  CHECK(to_text(canonical_hash(a_genome())) == "4d26b1d63989a30a061f37a8c7d2c229");
}

TEST_CASE("hash: innovation numbers leave no trace") {
  for (std::uint64_t i = 0; i < 3'000; ++i) {
    random_stream random = derive(1, purpose::sample, 0, i);
    const genome g = a_wild_genome({}, random);
    REQUIRE(canonical_hash(g) == canonical_hash(renamed(g, random)));
  }
}

TEST_CASE("hash: two genomes have one hash if and only if they are the same network") {
  std::map<std::string, genome_hash> hash_of;
  std::set<genome_hash> hashes;
  std::size_t again = 0;
  for (std::uint64_t i = 0; i < 20'000; ++i) {
    random_stream random = derive(2, purpose::sample, 0, i);
    const genome g = a_wild_genome(
        {.nodes = 4, .operators = 2, .edge = 0.5, .recurrent = i % 2 == 0, .plain = true},
        random);
    const genome_hash h = canonical_hash(g);
    const auto known = hash_of.try_emplace(least_text(g), h);
    REQUIRE(known.first->second == h);
    REQUIRE(known.second == hashes.insert(h).second);
    again += known.second ? 0 : 1;
  }
  CHECK(again > 1'000); // the test is about both directions
  CHECK(hashes.size() > 1'000);
}

TEST_CASE("hash: everything that makes another network or another training counts") {
  const std::vector<std::function<void(genome&)>> changes{
      [](genome&) {},
      [](genome& g) { g.nodes[3].op = "tanh"; },
      [](genome& g) { assign(g.nodes[2].settings, "filters", std::int64_t{32}); },
      [](genome& g) { assign(g.nodes[2].settings, "filters", 16.0); },
      [](genome& g) { assign(g.nodes[2].settings, "stride", std::int64_t{1}); },
      [](genome& g) { clade::erase(g.nodes[2].settings, "padding"); },
      [](genome& g) { assign(g.nodes[1].settings, "merge", "concat"); },
      [](genome& g) { assign(g.hyperparameters, "learning_rate", 0.02); },
      [](genome& g) { assign(g.hyperparameters, "optimiser", "adam"); },
      [](genome& g) { clade::erase(g.hyperparameters, "momentum"); },
      [](genome& g) { edge_between(g, 2, 1).enabled = false; },
      [](genome& g) { edge_between(g, 3, 1).enabled = false; },
      [](genome& g) { edge_between(g, 2, 3).weight = 0.5; },
      [](genome& g) { g.edges.push_back(an_edge(input_innovation, output_innovation)); },
      [](genome& g) { g.edges.push_back(an_edge(input_innovation, innovation{3})); },
      [](genome& g) {
        g.edges.push_back({innovation{9}, innovation{3}, innovation{2}, true, true, 1.0});
      },
      [](genome& g) {
        g.edges.push_back({innovation{9}, innovation{2}, innovation{2}, true, true, 1.0});
      },
      [](genome& g) {
        g.edges.push_back({innovation{9}, innovation{2}, innovation{2}, true, true, 0.5});
      },
  };
  std::set<genome_hash> hashes;
  for (const auto& change : changes) {
    genome g = a_genome();
    change(g);
    hashes.insert(canonical_hash(sorted(std::move(g))));
  }
  CHECK(hashes.size() == changes.size());
}

TEST_CASE("hash: where a layer stands counts") {
  const node_gene conv{{}, "conv", {}}, relu{{}, "relu", {}};
  CHECK(canonical_hash(a_chain({conv, relu})) != canonical_hash(a_chain({relu, conv})));
  CHECK(canonical_hash(a_chain({conv, conv})) != canonical_hash(a_chain({conv})));
}

TEST_CASE("hash: what meets in a merge has no order") {
  const std::vector<setting> small{{"units", std::int64_t{8}}},
      large{{"units", std::int64_t{64}}};
  CHECK(canonical_hash(a_fork(small, large)) == canonical_hash(a_fork(large, small)));
  CHECK(canonical_hash(a_fork(small, small)) != canonical_hash(a_fork(small, large)));
}

TEST_CASE("hash: two memories of their own are not one that goes round") {
  const auto fork_with = [](std::pair<int, int> one, std::pair<int, int> two) {
    genome g = a_fork({}, {});
    for (const auto& [from, to] : {one, two}) {
      const auto a = innovation(from), b = innovation(to);
      g.edges.push_back({innovation_of_edge(a, b, 1), a, b, true, 1, 1.0});
    }
    return canonical_hash(sorted(std::move(g)));
  };
  CHECK(fork_with({2, 2}, {3, 3}) != fork_with({2, 3}, {3, 2}));
  CHECK(fork_with({2, 3}, {2, 2}) == fork_with({3, 2}, {3, 3}));
}

TEST_CASE("hash: recurrent edges of other delays make another network") {
  const auto delayed_by = [](std::uint32_t delay) {
    genome g = a_genome();
    const innovation a{2};
    g.edges.push_back(an_edge(a, a, delay));
    return canonical_hash(sorted(std::move(g)));
  };
  CHECK(delayed_by(1) != delayed_by(2));
  CHECK(delayed_by(2) != delayed_by(3));
  CHECK(delayed_by(2) == delayed_by(2));
}

TEST_CASE("hash: what takes no part leaves no trace") {
  const genome_hash whole = canonical_hash(a_genome());
  genome g = a_genome();
  g.nodes.push_back({innovation{4}, "dense", {}}); // leads nowhere
  g.edges.push_back(an_edge(innovation{2}, innovation{4}));
  g.nodes.push_back({innovation{5}, "dense", {}}); // comes from nowhere
  g.edges.push_back(an_edge(innovation{5}, innovation{3}));
  edge_gene disabled = an_edge(input_innovation, output_innovation);
  disabled.enabled = false;
  g.edges.push_back(disabled);
  assign(g.nodes[3].settings, "merge", "concat"); // merges nothing, but for the dead
  CHECK(canonical_hash(sorted(std::move(g))) == whole);
}

TEST_CASE("hash: bytes have the hashes of XXH3") {
  const std::string_view none, text = "clade";
  CHECK(hash64(none) == 0x2d06800538d394c2);
  CHECK(to_text(hash128(none)) == "99aa06d3014798d86001c324468d497f");
  CHECK(hash64(text) != hash64(text, 1));
  CHECK(hash64(text) == 0x3c44166c935c7ee5);
  CHECK(to_text(hash128(text)) == "2d0640f4609f061a2fafa887cdfb6ac6");
}
