#include "genome/genes/derivation.hpp"
#include "genome/genes/grammar.hpp"
#include "genome/variation/crossover.hpp"
#include "genome/variation/retuning.hpp"
#include "tests/support/genomes.hpp"

#include <catch2/catch.hpp>
#include <rapidcheck.h>

#include <map>
#include <set>

using namespace clade;

namespace {

/// module = sequence[module module] | branch[module leaf] | conv | pool;
/// leaf = small | none
derivation_domain modules(std::size_t depth = 5, std::size_t size = 12) {
  return {.rules = std::make_shared<const production_rules>(std::vector<production_rule>{
              {"module",
               {{"sequence", 3, {0, 0}}, {"branch", 1, {0, 1}}, {"conv"}, {"pool"}}},
              {"leaf", {{"small"}, {"none", 0}}}}),
          .start = 0,
          .depth = depth,
          .size = size};
}

derivation read(const derivation_domain& domain, std::string_view text) {
  auto d = parse_derivation(domain, text);
  INFO((d ? "" : d.error().message));
  REQUIRE(d);
  return *d;
}

std::string complaint(std::string_view text,
                      const derivation_domain& domain = modules()) {
  const auto d = parse_derivation(domain, text);
  return d ? "no complaint" : d.error().message;
}

/// Rules out of the air; there may be none that ends.
derivation_domain wild_domain(random_stream& random) {
  const auto count = 1 + random.below(4);
  std::vector<production_rule> rules(count);
  for (std::size_t r = 0; r < count; ++r) {
    rules[r].name = "r" + std::to_string(r);
    rules[r].productions.resize(1 + random.below(4));
    for (std::size_t p = 0; p < rules[r].productions.size(); ++p) {
      auto& made = rules[r].productions[p];
      made.name = "p" + std::to_string(p);
      made.weight = random.chance(0.2) ? 0 : 4 * random.uniform();
      made.parts.resize(random.below(4));
      for (auto& part : made.parts)
        part = random.below(count);
    }
  }
  return {.rules = std::make_shared<const production_rules>(std::move(rules)),
          .start = random.below(count),
          .depth = 1 + random.below(production_rules::deepest),
          .size = 1 + random.below(derivation_domain::largest)};
}

bool has_one(const derivation_domain& d) {
  return d.rules->least(d.start, d.depth) <= d.size;
}

void check_within(const derivation_domain& domain, const derivation& d) {
  const auto text = to_text(*domain.rules, d);
  RC_ASSERT(size_of(d) <= domain.size);
  RC_ASSERT(depth_of(d) <= domain.depth);
  RC_ASSERT(text.size() <= longest_setting_text);
  const auto again = parse_derivation(domain, text);
  RC_ASSERT(again.has_value());
  RC_ASSERT(*again == d);
}

grammar with_body(const derivation_domain& domain) {
  return {.operators = {{.name = "net",
                         .settings = {{.name = "body", .domain = domain, .when = {}}}}},
          .merge = {},
          .hyperparameters = {},
          .max_nodes = 1,
          .max_skips = 0,
          .initial_nodes = 1};
}

genome a_net(const std::string& body) {
  return test::a_chain({{{}, "net", {{"body", body}}}});
}

} // namespace

TEST_CASE("derivation: whatever the rules, what is drawn and varied keeps the bounds") {
  rc::check([] {
    random_stream random =
        derive(*rc::gen::arbitrary<std::uint64_t>(), purpose::sample, 0, 0);
    const auto domain = wild_domain(random);
    if (!has_one(domain))
      return;
    check_within(domain, least_derivation(domain));
    RC_ASSERT(size_of(least_derivation(domain))
              == domain.rules->least(domain.start, domain.depth));
    const auto a = draw(domain, random), b = draw(domain, random);
    check_within(domain, a);
    check_within(domain, perturbed(domain, a, random));
    check_within(domain, crossed(domain, a, b, random));
  });
}

TEST_CASE("derivation: the fewest productions within a depth are known") {
  const production_rules rules({{"a", {{"two", 1, {1, 1}}, {"down", 1, {1}}}},
                                {"b", {{"on", 1, {0}}, {"deep", 1, {2}}}},
                                {"c", {{"end"}}},
                                {"d", {{"round", 1, {3}}}}});
  CHECK(rules.least(2, 1) == 1);
  CHECK(rules.least(1, 1) == production_rules::endless);
  CHECK(rules.least(1, 2) == 2);
  CHECK(rules.least(0, 2) == production_rules::endless);
  CHECK(rules.least(0, 3) == 3);
  CHECK(rules.least(3, production_rules::deepest) == production_rules::endless);
  CHECK_FALSE(rules.varies(2, 16));
  CHECK(rules.varies(0, 5));
  CHECK(rules.varies(0, 3)); // two[deep[end] deep[end]], down[deep[end]]
}

TEST_CASE("derivation: a text is read with its mistakes told") {
  const auto domain = modules();
  const std::string text = "sequence[conv branch[pool small]]";
  CHECK(to_text(*domain.rules, read(domain, text)) == text);
  CHECK(size_of(read(domain, text)) == 5);
  CHECK(depth_of(read(domain, text)) == 3);
  CHECK(complaint("") == "\"\" is none of the rule module: sequence, branch, conv, pool");
  CHECK(complaint("small")
        == "\"small\" is none of the rule module: sequence, branch, conv, pool");
  CHECK(complaint("sequence") == "sequence has 2 parts, as in sequence[... ...]");
  CHECK(complaint("sequence[conv]") == "sequence has 2 parts, as in sequence[... ...]");
  CHECK(complaint("sequence[conv conv conv]")
        == "sequence has 2 parts, as in sequence[... ...]");
  CHECK(complaint("conv conv") == "\" conv\" is left over");
  CHECK(complaint("branch[conv conv]")
        == "\"conv\" is none of the rule leaf: small, none");
  CHECK(complaint("sequence[sequence[conv conv] conv]", modules(2))
        == "it is more than 2 deep");
  CHECK(complaint("sequence[conv sequence[conv conv]]", modules(5, 4))
        == "it has more than 4 parts");
  CHECK(complaint(std::string(100'000, '[')).find("is none of the rule module")
        != std::string::npos);
}

TEST_CASE("derivation: productions are drawn by weight, and never those of weight 0") {
  const auto domain = modules(2, 3);
  std::map<std::string, int> seen;
  for (std::uint64_t i = 0; i < 6'000; ++i) {
    random_stream random = derive(1, purpose::sample, 0, i);
    const auto d = draw(domain, random);
    ++seen[domain.rules->at(d).name];
    CHECK(to_text(*domain.rules, d).find("none") == std::string::npos);
  }
  CHECK(seen["sequence"] > 2'800);
  CHECK(seen["sequence"] < 3'200);
  CHECK(seen["branch"] > 850);
  CHECK(seen["branch"] < 1'150);
  // Within a depth of 1 only conv and pool end.
  const auto flat = modules(1, 12);
  for (std::uint64_t i = 0; i < 100; ++i) {
    random_stream random = derive(1, purpose::sample, 0, i);
    CHECK(size_of(draw(flat, random)) == 1);
  }
}

TEST_CASE("derivation: a mutation replaces one part, and says which") {
  const auto rules = with_body(modules());
  const auto before = a_net("sequence[conv branch[pool small]]");
  std::set<std::string> changes;
  for (std::uint64_t i = 0; i < 200; ++i) {
    genome g = before;
    random_stream random = derive(1, purpose::mutation, 0, i);
    const auto done = change_setting(rules, g, random);
    REQUIRE(done);
    REQUIRE(check(rules, g).has_value());
    CHECK(g != before);
    changes.insert(done->before + " -> " + done->after);
  }
  CHECK(changes.contains("conv -> pool"));
  CHECK(changes.contains("pool -> conv"));
  CHECK(changes.contains("branch[pool small] -> conv"));
  CHECK(changes.size() > 20);
}

TEST_CASE("derivation: a cross takes a part of each parent") {
  const auto rules = with_body(modules());
  const auto a = a_net("sequence[conv conv]"), b = a_net("branch[pool small]");
  std::set<std::string> bodies;
  for (std::uint64_t i = 0; i < 200; ++i) {
    random_stream random = derive(1, purpose::crossover, 0, i);
    const auto child = cross(rules, a, b, random);
    REQUIRE(check(rules, child).has_value());
    bodies.insert(to_text(*find(child.nodes[2].settings, "body")));
  }
  CHECK(bodies
        == std::set<std::string>{
            "branch[conv small]", "branch[pool small]",
            "branch[sequence[conv conv] small]", "pool",
            "sequence[branch[pool small] conv]", "sequence[conv branch[pool small]]",
            "sequence[conv conv]", "sequence[conv pool]", "sequence[pool conv]", "conv"});
}

TEST_CASE("derivation: the difference of two is the smallest part that has it all") {
  const auto domain = modules();
  const auto told = [&](std::string_view a, std::string_view b) {
    const auto [before, after] =
        differing_parts(*domain.rules, read(domain, a), read(domain, b));
    return before + " -> " + after;
  };
  CHECK(told("sequence[conv branch[pool small]]", "sequence[conv branch[conv small]]")
        == "pool -> conv");
  CHECK(told("sequence[conv conv]", "sequence[pool pool]")
        == "sequence[conv conv] -> sequence[pool pool]");
  CHECK(told("conv", "branch[conv small]") == "conv -> branch[conv small]");
}

TEST_CASE("derivation: a value that is none is told why") {
  const auto rules = with_body(modules());
  const auto wrong = check(rules, a_net("conv[conv]"));
  REQUIRE_FALSE(wrong);
  CHECK(wrong.error().message.find("body: \"[conv]\" is left over") != std::string::npos);
  CHECK(is_ordered(rules.operators[0].settings[0]) == false);
  CHECK(varies(rules.operators[0].settings[0]));
}
