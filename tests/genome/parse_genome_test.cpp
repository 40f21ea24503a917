#include "genome/genes/hash.hpp"
#include "genome/variation/mutation.hpp"
#include "genome/variation/parse_genome.hpp"
#include "genome/variation/rewiring.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace clade;

namespace {

std::string refused(std::string_view text) {
  const auto made = parse_genome(text);
  return made ? "" : made.error().message;
}

grammar dense_rules() {
  grammar rules;
  rules.operators = {
      {.name = "dense",
       .settings = {{.name = "units", .domain = integer_domain{.low = 1, .high = 64}},
                    {.name = "share", .domain = real_domain{.low = 0, .high = 1}}}}};
  rules.merge = {
      {.name = "merge",
       .domain = choice_domain{.options = {std::string("add"), std::string("concat")}}}};
  rules.hyperparameters = {
      {.name = "rate", .domain = real_domain{.low = 0.001, .high = 1, .log = true}},
      {.name = "size", .domain = integer_domain{.low = 1, .high = 9}}};
  return rules;
}

} // namespace

TEST_CASE("parse genome: what is printed is read again as an equal network") {
  const bool recurrent = GENERATE(false, true);
  auto rules = dense_rules();
  if (recurrent)
    rules.max_recurrent = 4;
  const mutation_params params;
  auto g = chain_genome({});
  g.hyperparameters = {{"rate", 0.5}, {"size", std::int64_t{3}}};
  for (std::uint64_t i = 0; i < 300; ++i) {
    auto random = derive(1, purpose::mutation, 0, i);
    g = mutate(rules, g, params, random).child;
    INFO(to_text(g));
    const auto read = parse_genome(to_text(g));
    REQUIRE(read.has_value());
    REQUIRE(canonical_hash(*read) == canonical_hash(g));
    REQUIRE(check(rules, *read).has_value());
    // A part of a text is read or refused.
    const auto text = to_text(g);
    std::ignore = parse_genome(std::string_view(text).substr(0, text.size() / 2));
  }
}

TEST_CASE("parse genome: recurrent inputs may stand on lines below") {
  const auto made = parse_genome("input\na dense <- input, b 3 steps before, a before\n"
                                 "b dense <- a\noutput <- b\n");
  REQUIRE(made.has_value());
  std::vector<std::uint32_t> delays;
  for (const auto& e : made->edges)
    if (e.recurrent())
      delays.push_back(e.delay);
  std::ranges::sort(delays);
  CHECK(delays == std::vector<std::uint32_t>{1, 3});
  CHECK(refused("input\na dense <- input, c before\noutput <- a\n")
            .find("c stands on no line")
        != std::string::npos);
  CHECK(refused("input\na dense <- input, a 1 steps before\noutput <- a\n")
            .find("is not such as n1 3 steps before")
        != std::string::npos);
}

TEST_CASE("parse genome: a chain has the innovations of a chain, settings may lack") {
  const auto made = parse_genome("  input\n  a dense(units=8) <- input\n"
                                 "  b dense <- a\n  output <- b\n  rate=0.5 size=3\n");
  REQUIRE(made.has_value());
  auto chain = chain_genome({{.op = "dense", .settings = {{"units", std::int64_t{8}}}},
                             {.op = "dense", .settings = {}}});
  chain.hyperparameters = {{"rate", 0.5}, {"size", std::int64_t{3}}};
  CHECK(to_text(*made) == to_text(chain));
  CHECK(made->nodes == chain.nodes);
}

TEST_CASE("parse genome: what is wrong is named with its line") {
  CHECK(refused("") == "there is no line for the output, such as output <- input");
  CHECK(refused("input\na dense <- b") == "line 2: b stands on no line above");
  CHECK(refused("a dense <- input\na dense <- input") == "line 2: a stands there twice");
  CHECK(refused("a dense <-") == "line 1: it says not what enters it, such as <- input");
  CHECK(refused("a <- input")
        == "line 1: a layer is such as n1 dense(units=64) <- input");
  CHECK(refused("a dense(units=8 <- input")
        == "line 1: \"dense(units=8\" has no \")\" at its end");
  CHECK(refused("a dense(units) <- input")
        == "line 1: \"units\" is no setting, such as units=64");
  CHECK(refused("a dense <- input\noutput <- input, a [add]")
        == "line 2: \"[add]\" is not such as [merge add]");
  CHECK(refused("output <- input, input") != "");
}
