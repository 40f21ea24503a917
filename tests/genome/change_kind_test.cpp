#include "genome/change_kind.hpp"
#include "tests/support/genomes.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <set>

using namespace clade;
using namespace clade::test;

TEST_CASE("change kind: what each kind of mutation writes is read as that kind") {
  std::set<change_kind> seen;
  for (std::size_t k = 0; k < change_kind_count; ++k) {
    mutation_params only{.again = 0};
    for (const auto& row : change_kind_table)
      only.*row.weight = 0;
    only.*change_kind_table[k].weight = 1;
    for (std::uint64_t i = 0; i < 300; ++i) {
      auto random = derive(1, purpose::mutation, k, i);
      // Some from one genome, some from many.
      const auto parent =
          i % 2 == 0 ? a_genome() : sample_genome(small_grammar(), random);
      const auto born = mutate(small_grammar(), parent, only, random);
      if (born.change == "unchanged")
        continue;
      INFO(born.change);
      CHECK(kinds_of_changes(born.change)
            == std::vector<change_kind>{static_cast<change_kind>(k)});
      seen.insert(static_cast<change_kind>(k));
    }
  }
  CHECK(seen.size() == change_kind_count);
}

TEST_CASE("change kind: several changes have each kind once, in order") {
  CHECK(kinds_of_changes("crossed; widen n2 units 8 -> 16; momentum 0.8 -> 0.9; widen n3 "
                         "units 8 -> 16")
        == std::vector{change_kind::widen, change_kind::change_hyperparameter});
}

TEST_CASE("change kind: what is no mutation has none") {
  for (const auto* text : {"", "sampled", "unchanged", "crossed", "added by hand",
                           "crossed, but over the limits: the fitter parent",
                           "hyperparameters by TPE", "goes on to epoch 9", "; "}) {
    INFO(text);
    CHECK(kinds_of_changes(text).empty());
  }
}

TEST_CASE("change kind: the names are the experiment's, each once") {
  std::set<std::string> names;
  for (const auto& row : change_kind_table)
    names.insert(row.name);
  CHECK(names.size() == change_kind_count);
  mutation_params params;
  for (const auto& row : change_kind_table) {
    params = {};
    params.*row.weight = -1;
    const auto refused = validate(params);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().message.starts_with("mutation." + std::string(row.name) + " "));
  }
}
