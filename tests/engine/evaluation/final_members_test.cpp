#include "engine/evaluation/final_members.hpp"
#include "tests/engine/search/toy_world.hpp"

#include <catch2/catch.hpp>

using namespace clade;

namespace {

individual model(candidate_id id) {
  auto i = an_individual(id, 0.5);
  i.genome = toy_genome(static_cast<std::int64_t>(id));
  return i;
}

std::string to_text(const std::vector<trained_member>& members) {
  std::string text;
  for (const auto& m : members)
    text += "#" + std::to_string(m.id) + " of #" + std::to_string(m.bag) + " ";
  return text;
}

std::string subjects(const std::vector<examination>& all) {
  std::string text;
  for (const auto& e : all)
    text += e.subject + " ";
  return text;
}

} // namespace

TEST_CASE("final members: the champion comes first, then the trained ones by their ids") {
  auto run = make_run_state(toy_rules("random")).value();
  run.best = {model(2), model(1)};
  CHECK(to_text(members_of(run)) == "#2 of #2 #1 of #1 ");
  run.finals = {{model(9), {}, 9}, {model(8), {}, 8}};
  CHECK(to_text(members_of(run)) == "#2 of #2 #8 of #8 #9 of #9 #1 of #1 ");
}

TEST_CASE("final members: folds of a genome stay together, the champion's too") {
  auto run = make_run_state(toy_rules("random")).value();
  run.best = {model(8), model(1)};
  run.finals = {{model(8), {1, 2}, 7}, {model(7), {0, 2}, 7}};
  CHECK(to_text(members_of(run)) == "#7 of #7 #8 of #7 #1 of #1 ");
}

TEST_CASE("final members: examinations are in one order, whichever came first") {
  examination champion{.subject = "champion", .metrics = {{"test.accuracy", 0.5}}};
  const examination linear{.subject = "linear model"};
  CHECK(subjects(complete_examinations({linear, champion}, nullptr))
        == "champion linear model ");
  composition composed{.tested = {.subject = "final model"}};
  CHECK(subjects(complete_examinations({composed.tested, champion}, &composed))
        == "champion final model ");
}

TEST_CASE(
    "final members: the test of a champion that is the final model is that of both") {
  const examination champion{
      .subject = "champion", .id = 4, .metrics = {{"test.accuracy", 0.5}}};
  composition composed{.model = {.metrics = {{"validation.accuracy", 0.75}}},
                       .tested = {.subject = "final model"}};
  const auto all = complete_examinations({champion}, &composed);
  CHECK(subjects(all) == "champion final model ");
  REQUIRE(all.size() == 2);
  CHECK(all[1].id == 0);
  CHECK(all[1].metrics
        == std::vector<metric>{{"test.accuracy", 0.5}, {"validation.accuracy", 0.75}});
}
