#include "genome/variation/change.hpp"
#include "genome/variation/mutation.hpp"

#include <catch2/catch.hpp>

#include <set>

using namespace clade;

TEST_CASE("change: a sentence for each kind") {
  using enum change_kind;
  const std::vector<std::pair<change, std::string>> sentences{
      {{.kind = add_node, .gene = "n1..n2", .after = "conv(filters=16)"},
       "add conv(filters=16) on n1..n2"},
      {{.kind = add_edge, .gene = "n1..output"}, "add edge n1..output"},
      {{.kind = remove_node, .gene = "n3", .before = "relu"}, "remove n3 relu"},
      {{.kind = remove_edge, .gene = "n1..n2"}, "remove edge n1..n2"},
      {{.kind = change_operator, .gene = "n3", .before = "relu", .after = "gelu"},
       "n3 relu -> gelu"},
      {{.kind = widen, .gene = "n3", .name = "units", .before = "16", .after = "32"},
       "widen n3 units 16 -> 32"},
      {{.kind = narrow, .gene = "n3", .name = "units", .before = "32", .after = "16"},
       "narrow n3 units 32 -> 16"},
      {{.kind = change_setting,
        .gene = "output",
        .name = "merge",
        .before = "add",
        .after = "concat"},
       "output merge add -> concat"},
      {{.kind = change_hyperparameter,
        .name = "momentum",
        .before = "0.8",
        .after = "0.9"},
       "momentum 0.8 -> 0.9"},
      {{.kind = sampled}, "sampled"},
      {{.kind = crossed}, "crossed"},
      {{.kind = crossed, .after = "but over the limits: the fitter parent"},
       "crossed, but over the limits: the fitter parent"},
      {{.kind = unchanged}, "unchanged"},
      {{.kind = goes_on, .after = "9"}, "goes on to epoch 9"},
      {{.kind = goes_on, .before = "#3", .after = "9"}, "goes on from #3 to epoch 9"},
      {{.kind = proposed, .name = "TPE", .after = "proposed by TPE"}, "proposed by TPE"},
      {{.after = "added by hand"}, "added by hand"}};
  std::vector<change> all;
  std::string text;
  for (const auto& [one, sentence] : sentences) {
    CHECK(to_text(one) == sentence);
    all.push_back(one);
    text += (text.empty() ? "" : "; ") + sentence;
  }
  CHECK(to_text(all) == text);
  CHECK(to_text(std::vector<change>{}).empty());
}

TEST_CASE("change: the kinds of mutation are told once each, in order, and no others") {
  CHECK(mutation_kinds_of({{.kind = change_kind::crossed},
                           {.kind = change_kind::widen, .gene = "n2"},
                           {.kind = change_kind::change_hyperparameter},
                           {.kind = change_kind::widen, .gene = "n3"},
                           {.after = "added by hand"}})
        == std::vector{change_kind::widen, change_kind::change_hyperparameter});
}

TEST_CASE("change: the names of mutations are the experiment's, each once") {
  std::set<std::string> names;
  for (std::size_t k = 0; k < mutation_kind_count; ++k) {
    names.insert(mutation_kinds[k].name);
    CHECK(to_text(static_cast<change_kind>(k)) == std::string(mutation_kinds[k].name));
    mutation_params params;
    params.*mutation_kinds[k].weight = -1;
    const auto refused = validate(params);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().message.starts_with(std::string("mutation.")
                                              + mutation_kinds[k].name + " "));
  }
  CHECK(names.size() == mutation_kind_count);
}
