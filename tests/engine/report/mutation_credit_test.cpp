#include "engine/report/view/mutation_credit.hpp"
#include "genome/variation/old_change_text.hpp"

#include <catch2/catch.hpp>

using namespace clade;

namespace {

using names = std::vector<std::string>;

names names_of(const char* text) {
  return change_names(parse_old_change_text(text));
}

change_credit of(const mutation_credit& all, const std::string& kind) {
  for (const auto& c : all.credits())
    if (c.kind == kind)
      return c;
  FAIL("no credit for " + kind);
  return {};
}

} // namespace

TEST_CASE("mutation credit: changes have names for people") {
  CHECK(names_of("sampled").empty());
  CHECK(names_of("unchanged").empty());
  CHECK(names_of("goes on to epoch 9").empty());
  CHECK(names_of("goes on from #3 to epoch 9; momentum 0.8 -> 0.9") == names{"momentum"});
  CHECK(names_of("add conv(filters=16, kernel=3) on n1..n2") == names{"add layer"});
  CHECK(names_of("add relu on input..output") == names{"add layer"});
  CHECK(names_of("add edge n1..n2") == names{"add edge"});
  CHECK(names_of("remove n3f2a1 conv(filters=16)") == names{"remove layer"});
  CHECK(names_of("remove edge n1..n2") == names{"remove edge"});
  CHECK(names_of("widen n3f2a1 filters 16 -> 32") == names{"widen"});
  CHECK(names_of("narrow n3f2a1 filters 32 -> 16") == names{"narrow"});
  CHECK(names_of("n3f2a1 conv(filters=16, kernel=3) -> relu")
        == names{"change operator"});
  CHECK(names_of("n3f2a1 relu -> conv(filters=16)") == names{"change operator"});
  CHECK(names_of("n3f2a1 norm batch -> none") == names{"layer setting"});
  CHECK(names_of("output merge add -> concat") == names{"layer setting"});
  CHECK(names_of("learning_rate 0.01 -> 0.02") == names{"learning_rate"});
  CHECK(names_of("crossed; widen n2 filters 8 -> 16; widen n3 filters 8 -> 16")
        == names{"crossing", "widen"});
  CHECK(names_of("crossed, but over the limits: the fitter parent; unchanged")
        == names{"crossing"});
  CHECK(names_of("added by hand") == names{"other"});
  CHECK(names_of("add relu on n1..n2; hyperparameters by TPE")
        == names{"add layer", "TPE"});
}

TEST_CASE("mutation credit: children count for each of their changes") {
  mutation_credit all(true);
  all.add({.changes = parse_old_change_text("widen n2 filters 8 -> 16"),
           .fitness = 0.7,
           .parent_fitness = 0.5});
  all.add(
      {.changes = parse_old_change_text("widen n2 filters 8 -> 16; momentum 0.8 -> 0.9"),
       .fitness = 0.4,
       .parent_fitness = 0.5});
  all.add({.changes = parse_old_change_text("widen n2 filters 8 -> 16"),
           .fitness = {},
           .parent_fitness = 0.5});
  all.add({.changes = parse_old_change_text("widen n2 filters 8 -> 16"),
           .fitness = 0.5,
           .parent_fitness = {}});
  all.add({.changes = parse_old_change_text("sampled"),
           .fitness = 0.5,
           .parent_fitness = {}});
  REQUIRE(all.credits().size() == 2);
  CHECK(all.credits().front().kind == "widen");
  const auto widen = of(all, "widen");
  CHECK(widen.children == 3);
  CHECK(widen.alone == 2);
  CHECK(widen.improved == 1);
  CHECK(widen.failed == 1);
  CHECK(widen.improved_share() == Approx(1.0 / 3));
  CHECK(widen.mean_change == Approx(0.05));
  CHECK(widen.best_change == Approx(0.2));
  const auto momentum = of(all, "momentum");
  CHECK(momentum.alone == 0);
  CHECK(momentum.best_change == Approx(-0.1));
}

TEST_CASE("mutation credit: where the objective is lowered less is better") {
  mutation_credit all(false);
  all.add({.changes = parse_old_change_text("widen n2 filters 8 -> 16"),
           .fitness = 0.3,
           .parent_fitness = 0.5});
  all.add({.changes = parse_old_change_text("widen n2 filters 8 -> 16"),
           .fitness = 0.6,
           .parent_fitness = 0.5});
  const auto widen = of(all, "widen");
  CHECK(widen.improved == 1);
  CHECK(widen.best_change == Approx(-0.2));
  CHECK(widen.mean_change == Approx(-0.05));
}

TEST_CASE("mutation credit: rates are those of a run whose mutation adapts") {
  const mutation_params base{.widen = 1.5, .adapt = true};
  CHECK(mutation_credit(true).rates().empty());
  for (const bool maximize : {true, false}) {
    mutation_credit all(maximize, base);
    for (int i = 0; i < 20; ++i) {
      all.add({.changes = parse_old_change_text("widen n2 filters 8 -> 16"),
               .fitness = maximize ? 0.7 : 0.3,
               .parent_fitness = 0.5});
      all.add({.changes = parse_old_change_text("momentum 0.8 -> 0.9"),
               .fitness = {},
               .parent_fitness = 0.5});
    }
    const auto rates = all.rates();
    REQUIRE(rates.size() == mutation_kind_count);
    const auto& widen = rates[static_cast<std::size_t>(change_kind::widen)];
    CHECK(widen.children == 20);
    CHECK(widen.paid == 20);
    CHECK(widen.rate > widen.base);
    const auto& tuned =
        rates[static_cast<std::size_t>(change_kind::change_hyperparameter)];
    CHECK(tuned.paid == 0);
    CHECK(tuned.rate < tuned.base);
  }
}
