// The law between data and sentences: what is parsed of a sentence is what made it.
#include "genome/variation/mutation.hpp"
#include "genome/variation/old_change_text.hpp"
#include "tests/support/genomes.hpp"

#include <catch2/catch.hpp>
#include <rapidcheck.h>

using namespace clade;
using namespace clade::test;

namespace {

using kinds = std::vector<change_kind>;

/// With all kinds of changes.
grammar recurrent_grammar() {
  auto rules = small_grammar();
  rules.max_recurrent = 3;
  return rules;
}

kinds kinds_of(const char* text) {
  kinds found;
  for (const auto& c : parse_old_change_text(text))
    found.push_back(c.kind);
  return found;
}

} // namespace

TEST_CASE("old change text: what each kind of mutation did is read from its sentence") {
  for (std::size_t k = 0; k < mutation_kind_count; ++k) {
    mutation_params only{.again = 0.5};
    for (const auto& kind : mutation_kinds)
      only.*kind.weight = 0;
    only.*mutation_kinds[k].weight = 1;
    bool seen = false;
    REQUIRE(rc::check(mutation_kinds[k].name, [&] {
      auto random = derive(*rc::gen::arbitrary<std::uint64_t>(), purpose::mutation, 0, 0);
      const auto parent = *rc::gen::arbitrary<bool>()
                              ? a_genome()
                              : sample_genome(recurrent_grammar(), random);
      const auto changes = mutate(recurrent_grammar(), parent, only, random).changes;
      RC_ASSERT(parse_old_change_text(to_text(changes)) == changes);
      if (changes.front().kind == change_kind::unchanged)
        return;
      RC_ASSERT(mutation_kinds_of(changes) == kinds{static_cast<change_kind>(k)});
      seen = true;
    }));
    CHECK(seen);
  }
  REQUIRE(rc::check("chains of all kinds", [] {
    auto random = derive(*rc::gen::arbitrary<std::uint64_t>(), purpose::mutation, 0, 0);
    auto genome = sample_genome(recurrent_grammar(), random);
    for (int i = 0; i < 20; ++i) {
      auto born = mutate(recurrent_grammar(), genome, {.again = 0.6}, random);
      RC_ASSERT(parse_old_change_text(to_text(born.changes)) == born.changes);
      genome = std::move(born.child);
    }
  }));
}

TEST_CASE("old change text: other sentences have their kinds") {
  using enum change_kind;
  CHECK(kinds_of("sampled") == kinds{sampled});
  CHECK(kinds_of("unchanged") == kinds{unchanged});
  CHECK(kinds_of("crossed, but over the limits: the fitter parent; unchanged")
        == kinds{crossed, unchanged});
  CHECK(kinds_of("goes on to epoch 9") == kinds{goes_on});
  CHECK(kinds_of("goes on from #3 to epoch 9; momentum 0.8 -> 0.9")
        == kinds{goes_on, change_hyperparameter});
  CHECK(kinds_of("add relu on n1..n2; hyperparameters by TPE")
        == kinds{add_node, proposed});
  CHECK(kinds_of("widen n3f2a1 16 -> 32") == kinds{widen});
  for (const auto* text : {"added by hand", "drawn by CMA-ES, restart 2", "goes on",
                           "trial of #1 by #2 + 0.5 (#3 - #4)", "change nothing",
                           "difference #3 + F (#5 - #7), F 0.5, CR 0.9", "widen n3",
                           "migrated from island 1, where it is #7", "; ", "add "}) {
    INFO(text);
    CHECK(mutation_kinds_of(parse_old_change_text(text)).empty());
  }
  CHECK(kinds_of("").empty());
}

TEST_CASE("old change text: the text of what was parsed is what was parsed") {
  REQUIRE(rc::check("any words", [] {
    std::string text;
    for (const auto* word :
         *rc::gen::container<std::vector<const char*>>(rc::gen::element(
             "add", "remove", "edge", "widen", "n1", "output", "relu", "conv(filters=8)",
             "on", "->", " -> ", ";", "; ", "crossed", ", ", "goes on", "from",
             "to epoch", "by TPE", "sampled", "momentum", "0.8", " ", "\n", "")))
      text += (*rc::gen::arbitrary<bool>() ? " " : "") + std::string(word);
    RC_ASSERT(to_text(parse_old_change_text(text)) == text);
  }));
  REQUIRE(rc::check("any bytes", [](const std::string& text) {
    RC_ASSERT(to_text(parse_old_change_text(text)) == text);
  }));
}
