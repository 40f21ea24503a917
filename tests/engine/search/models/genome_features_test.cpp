#include "engine/search/models/base/genome_features.hpp"
#include "genome/variation/mutation.hpp"
#include "tests/support/genomes.hpp"

#include <catch2/catch.hpp>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>

using namespace clade;
using namespace clade::test;

namespace {

grammar two_edges() {
  grammar rules;
  rules.max_nodes = 0;
  const choice_domain operators{.options = {"none", "skip", "conv"}, .ordered = false};
  rules.hyperparameters = {{"a", operators, {}, false}, {"b", operators, {}, false}};
  return rules;
}

genome with(std::vector<setting> hyperparameters) {
  genome g = a_chain({});
  g.hyperparameters = std::move(hyperparameters);
  return sorted(std::move(g));
}

double block_difference(const std::vector<double>& a, const std::vector<double>& b,
                        const feature_block& block) {
  double sum = 0;
  for (std::size_t i = block.begin; i < block.begin + block.size; ++i)
    sum += std::fabs(a[i] - b[i]);
  return sum;
}

} // namespace

TEST_CASE("genome features: choices are columns, and equal domains have a sum") {
  const genome_features features(two_edges());
  const std::vector<double> row{0, 0.5, 0, 0, 0, 0.5, 0, 0.25, 0.25};
  CHECK(features.encode(with({{"a", "skip"}, {"b", "conv"}})) == row);
  using enum feature_block::kind;
  const std::vector<feature_block> blocks{
      {0, 3, choice, true}, {3, 3, choice, true}, {6, 3, sum, false}};
  CHECK(features.blocks() == blocks);
}

TEST_CASE(
    "genome features: derivations are how much of them each production is, and size") {
  const auto module =
      std::make_shared<const production_rules>(std::vector<production_rule>{
          {"module", {{"sequence", 1, {0, 0}}, {"conv"}, {"pool"}}}});
  grammar rules;
  rules.max_nodes = 1;
  rules.operators = {
      {.name = "net",
       .settings = {{.name = "body",
                     .domain = derivation_domain{.rules = module, .size = 10},
                     .when = {}}}}};
  const genome_features features(rules);
  const auto& block = features.blocks().back();
  REQUIRE(block.size == 5);
  const auto columns = [&](const std::string& body) {
    const auto row = features.encode(sorted(a_chain({{{}, "net", {{"body", body}}}})));
    return std::vector<double>(row.begin() + static_cast<std::ptrdiff_t>(block.begin),
                               row.end());
  };
  CHECK(columns("pool") == std::vector<double>{0, 0, 0.125, 0.025, 0});
  const auto nested = columns("sequence[conv sequence[conv conv]]");
  const std::vector<double> shares{0.05, 0.075, 0, 0.125, 0}; // 5 parts where 10 may be.
  for (std::size_t i = 0; i < shares.size(); ++i)
    CHECK(nested[i] == Approx(shares[i]));
  CHECK(columns("nothing") == std::vector<double>{0, 0, 0, 0, 0.5});
}

TEST_CASE("genome features: swapping two equal places leaves the sum as it is") {
  const genome_features features(two_edges());
  const auto a = features.encode(with({{"a", "skip"}, {"b", "conv"}}));
  const auto b = features.encode(with({{"a", "conv"}, {"b", "skip"}}));
  CHECK(block_difference(a, b, features.blocks()[0]) == 1);
  CHECK(block_difference(a, b, features.blocks()[1]) == 1);
  CHECK(block_difference(a, b, features.blocks()[2]) == 0);
}

TEST_CASE(
    "genome features: numbers are places in their domain, logarithms if it says so") {
  grammar rules;
  rules.max_nodes = 0;
  rules.hyperparameters = {
      {"rate", real_domain{.low = 1e-4, .high = 1, .log = true}, {}, false},
      {"units", integer_domain{.low = 10, .high = 30, .step = 5}, {}, false},
      {"batch", choice_domain{.options = {"8", "16", "32"}, .ordered = true}, {}, false},
      {"fixed", choice_domain{.options = {"one"}}, {}, false}};
  const genome_features features(rules);
  const auto row = features.encode(with(
      {{"rate", 0.01}, {"units", std::int64_t{25}}, {"batch", "32"}, {"fixed", "one"}}));
  REQUIRE(row.size() == 3); // what never varies says nothing
  CHECK(row[0] == Approx(0.5));
  CHECK(row[1] == Approx(0.75));
  CHECK(row[2] == 1);
}

TEST_CASE("genome features: a parameter that does not apply says so") {
  grammar rules;
  rules.max_nodes = 0;
  rules.hyperparameters = {
      {"optimiser", choice_domain{.options = {"sgd", "adam"}}, {}, false},
      {"momentum", real_domain{.low = 0, .high = 1}, condition{"optimiser", {"sgd"}},
       false}};
  const genome_features features(rules);
  const auto none = features.encode(with({{"optimiser", "adam"}}));
  const auto low = features.encode(with({{"optimiser", "sgd"}, {"momentum", 0.0}}));
  const auto high = features.encode(with({{"optimiser", "sgd"}, {"momentum", 1.0}}));
  const auto& momentum = features.blocks()[1];
  CHECK(block_difference(low, high, momentum) == Approx(0.5));
  CHECK(block_difference(none, low, momentum) == Approx(0.75));
  CHECK(block_difference(none, high, momentum) == Approx(0.75));
}

TEST_CASE("genome features: a value that its domain does not have counts as absent") {
  const genome_features features(two_edges());
  const auto row = features.encode(with({{"a", "pool"}, {"b", std::int64_t{3}}}));
  CHECK(row == std::vector<double>(9));
}

TEST_CASE("genome features: what is added is taken into [0, 1]") {
  const genome_features features(two_edges(), 3);
  const std::vector<double> added{0.25, 7, std::nan("")};
  const auto row = features.encode(with({{"a", "skip"}, {"b", "conv"}}), added);
  REQUIRE(row.size() == 12);
  CHECK(std::vector(row.end() - 3, row.end()) == std::vector{0.25, 1.0, 0.5});
}

TEST_CASE("genome features: networks of one space differ by at most 1 in each block") {
  const grammar rules = small_grammar();
  const genome_features features(rules);
  REQUIRE(rc::check("any two genomes", [&](std::uint64_t seed) {
    auto random = derive(seed, purpose::sample, 0, 0);
    genome a = sample_genome(rules, random), b = sample_genome(rules, random);
    for (int i = 0; i < 5; ++i)
      b = mutate(rules, b, {}, random).child;
    const auto x = features.encode(a), y = features.encode(b);
    RC_ASSERT(x.size() == features.width());
    for (const auto* row : {&x, &y})
      RC_ASSERT(
          std::ranges::all_of(*row, [](double v) { return v >= 0 && v <= 1 + 1e-12; }));
    for (const feature_block& block : features.blocks())
      RC_ASSERT(block_difference(x, y, block) <= 1 + 1e-12);
  }));
}

TEST_CASE("genome features: a layer more shows, a dead one does not") {
  const grammar rules = small_grammar();
  const genome_features features(rules);
  const node_gene relu{.id = {}, .op = "relu", .settings = {}};
  const node_gene dense{
      .id = {}, .op = "dense", .settings = {{"units", std::int64_t{32}}}};
  const auto one = features.encode(a_chain({dense}));
  CHECK(features.encode(a_chain({dense, relu})) != one);
  CHECK(features.encode(a_chain({relu, dense}))
        != features.encode(a_chain({dense, relu})));
  genome with_dead = a_chain({dense});
  with_dead.nodes.push_back({.id = innovation{99}, .op = "relu", .settings = {}});
  CHECK(features.encode(with_dead) == one);
}

TEST_CASE("genome features: how inputs are merged shows, skips are counted") {
  const genome_features features(small_grammar());
  genome chain = a_chain({{.id = {}, .op = "relu", .settings = {}}});
  genome added = chain, concatenated = chain;
  for (genome* g : {&added, &concatenated})
    g->edges.push_back(an_edge(input_innovation, output_innovation));
  const auto merged = [](genome g, const char* how) {
    for (node_gene& n : g.nodes)
      if (n.id == output_innovation)
        assign(n.settings, "merge", how);
    return sorted(std::move(g));
  };
  const auto plain = features.encode(chain);
  const auto sum = features.encode(merged(added, "add"));
  const auto side = features.encode(merged(concatenated, "concat"));
  std::size_t differing = 0;
  for (const feature_block& block : features.blocks())
    differing += block_difference(sum, side, block) > 0 ? 1 : 0;
  CHECK(differing == 1);
  CHECK(plain != sum);
}
