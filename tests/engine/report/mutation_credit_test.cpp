#include "engine/report/mutation_credit.hpp"

#include <catch2/catch.hpp>

using namespace clade;

namespace {

using kinds = std::vector<std::string>;

change_credit of(const mutation_credit& all, const std::string& kind) {
  for (const auto& c : all.credits())
    if (c.kind == kind)
      return c;
  FAIL("no credit for " + kind);
  return {};
}

} // namespace

TEST_CASE("mutation credit: origins tell of kinds of change") {
  CHECK(change_kinds("sampled").empty());
  CHECK(change_kinds("unchanged").empty());
  CHECK(change_kinds("goes on to epoch 9").empty());
  CHECK(change_kinds("goes on from #3 to epoch 9; momentum 0.8 -> 0.9")
        == kinds{"momentum"});
  CHECK(change_kinds("add conv(filters=16, kernel=3) on n1..n2") == kinds{"add layer"});
  CHECK(change_kinds("add relu on input..output") == kinds{"add layer"});
  CHECK(change_kinds("add edge n1..n2") == kinds{"add edge"});
  CHECK(change_kinds("remove n3f2a1 conv(filters=16)") == kinds{"remove layer"});
  CHECK(change_kinds("remove edge n1..n2") == kinds{"remove edge"});
  CHECK(change_kinds("widen n3f2a1 filters 16 -> 32") == kinds{"widen"});
  CHECK(change_kinds("narrow n3f2a1 filters 32 -> 16") == kinds{"narrow"});
  CHECK(change_kinds("n3f2a1 conv(filters=16, kernel=3) -> relu")
        == kinds{"change operator"});
  CHECK(change_kinds("n3f2a1 relu -> conv(filters=16)") == kinds{"change operator"});
  CHECK(change_kinds("n3f2a1 norm batch -> none") == kinds{"layer setting"});
  CHECK(change_kinds("output merge add -> concat") == kinds{"layer setting"});
  CHECK(change_kinds("learning_rate 0.01 -> 0.02") == kinds{"learning_rate"});
  CHECK(change_kinds("crossed; widen n2 filters 8 -> 16; widen n3 filters 8 -> 16")
        == kinds{"crossing", "widen"});
  CHECK(change_kinds("crossed, but over the limits: the fitter parent; unchanged")
        == kinds{"crossing"});
  CHECK(change_kinds("added by hand") == kinds{"other"});
  CHECK(change_kinds("add relu on n1..n2; hyperparameters by TPE")
        == kinds{"add layer", "TPE"});
}

TEST_CASE("mutation credit: children count for each of their changes") {
  mutation_credit all(true);
  all.add({.origin = "widen n2 filters 8 -> 16", .fitness = 0.7, .parent_fitness = 0.5});
  all.add({.origin = "widen n2 filters 8 -> 16; momentum 0.8 -> 0.9",
           .fitness = 0.4,
           .parent_fitness = 0.5});
  all.add({.origin = "widen n2 filters 8 -> 16", .fitness = {}, .parent_fitness = 0.5});
  all.add({.origin = "widen n2 filters 8 -> 16", .fitness = 0.5, .parent_fitness = {}});
  all.add({.origin = "sampled", .fitness = 0.5, .parent_fitness = {}});
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
  all.add({.origin = "widen n2 filters 8 -> 16", .fitness = 0.3, .parent_fitness = 0.5});
  all.add({.origin = "widen n2 filters 8 -> 16", .fitness = 0.6, .parent_fitness = 0.5});
  const auto widen = of(all, "widen");
  CHECK(widen.improved == 1);
  CHECK(widen.best_change == Approx(-0.2));
  CHECK(widen.mean_change == Approx(-0.05));
}

TEST_CASE("mutation credit: rates are those of a run whose mutation adapts") {
  CHECK_FALSE(adapting_mutation({}));
  CHECK_FALSE(adapting_mutation({{"evolution.mutation.adapt", "false"}}));
  const auto base = adapting_mutation(
      {{"evolution.mutation.adapt", "true"}, {"evolution.mutation.widen", "1.5"}});
  REQUIRE(base);
  CHECK(base->widen == 1.5);
  CHECK(mutation_credit(true).rates().empty());
  for (const bool maximize : {true, false}) {
    mutation_credit all(maximize, base);
    for (int i = 0; i < 20; ++i) {
      all.add({.origin = "widen n2 filters 8 -> 16",
               .fitness = maximize ? 0.7 : 0.3,
               .parent_fitness = 0.5});
      all.add({.origin = "momentum 0.8 -> 0.9", .fitness = {}, .parent_fitness = 0.5});
    }
    const auto rates = all.rates();
    REQUIRE(rates.size() == change_kind_count);
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
