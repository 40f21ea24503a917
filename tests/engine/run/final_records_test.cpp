#include "engine/run/state/final_stage.hpp"
#include "engine/run/steps/next_step.hpp"
#include "tests/engine/search/toy_world.hpp"

#include <catch2/catch.hpp>

using namespace clade;

namespace {

final_params ensemble() {
  return {.model = "ensemble"};
}

/// A search that is over, with its best in the fold.
run_state searched() {
  auto rules = toy_rules("generational");
  rules.final_stage = ensemble();
  auto state = make_run_state(rules).value();
  const toy_world world;
  REQUIRE(apply(state, run_started{.version = "0", .seed = 1}));
  while (!state.search->finished()) {
    const auto next = next_step(state);
    if (next.close) {
      REQUIRE(apply(state, *next.close));
      continue;
    }
    for (const auto& order : next.breed) {
      auto c = world.breed(1, order);
      c.equal_to = state.known.find(training_of(c));
      REQUIRE(apply(state, candidate_born{c}));
      const auto e = world.evaluate(c);
      if (c.equal_to == 0)
        REQUIRE(apply(state, candidate_evaluated{e}));
    }
    for (const auto& copy : next_step(state).copy)
      REQUIRE(apply(state, candidate_evaluated{copy_for(
                               copy.id, world.evaluate(a_candidate(copy.original)))}));
  }
  return state;
}

} // namespace

TEST_CASE("final stage: the fold takes the plan, its candidates and the model") {
  auto state = searched();
  CHECK(next_step(state).plan);
  CHECK_FALSE(next_step(state).finish);
  const auto best = state.best.front();
  const final_planned planned{
      .trainings = {{best.id, 40, {0, 2}}, {best.id, 40, {1, 2}}}};
  CHECK_FALSE(apply(state, final_planned{.trainings = {{best.id + 1000, 40, {0, 1}}}}));
  REQUIRE(apply(state, planned));
  CHECK_FALSE(apply(state, planned));
  const auto evaluated = state.evaluated;
  for (std::uint32_t fold = 0; fold < 2; ++fold) {
    const auto next = next_step(state);
    CHECK(next.breed.empty());
    REQUIRE(next.finals.size() == 2 - fold);
    auto other = next.finals.front();
    other.epochs = 41;
    CHECK_FALSE(apply(state, candidate_born{other}));
    REQUIRE(apply(state, candidate_born{next.finals.front()}));
    CHECK(next.finals.front().fold == data_fold{fold, 2});
    CHECK(next.finals.front().parents == std::vector{best.id});
    CHECK_FALSE(next_step(state).finish);
    REQUIRE(apply(state, candidate_evaluated{a_success(next.finals.front().id, 0.99)}));
  }
  CHECK(state.evaluated == evaluated + 2);
  REQUIRE(state.finals.size() == 2);
  CHECK(state.finals[0].bag == state.finals[1].bag);
  CHECK(next_step(state).finish);
  REQUIRE(apply(state, model_composed{.members = {{state.finals[0].who.id, 1.0}}}));
  REQUIRE(apply(state, run_finished{.champion = state.best.front().id}));
}

TEST_CASE("final stage: one of several folds is no champion, but in runs of before") {
  for (const bool apart : {true, false})
    for (const std::uint32_t folds : {1, 2}) {
      auto state = searched();
      const auto best = state.best.front();
      final_planned planned{.trainings = {{best.id, 40, {0, folds}}}};
      if (apart)
        planned.folds_apart = true;
      REQUIRE(apply(state, planned));
      const auto c = next_step(state).finals.front();
      REQUIRE(apply(state, candidate_born{c}));
      REQUIRE(apply(state, candidate_evaluated{a_success(c.id, 0.999)}));
      CHECK((state.best.front().id == c.id) == (!apart || folds == 1));
      CHECK(state.finals.size() == 1);
    }
}

TEST_CASE("final stage: a search that is cut is over, and what it had open is dropped") {
  auto rules = toy_rules("generational");
  rules.final_stage = ensemble();
  auto state = make_run_state(rules).value();
  REQUIRE(apply(state, run_started{.version = "0", .seed = 1}));
  const toy_world world;
  const auto orders = next_step(state).breed;
  for (std::size_t i = 0; i < 3; ++i)
    REQUIRE(apply(state, candidate_born{world.breed(1, orders[i])}));
  REQUIRE(apply(state, candidate_evaluated{a_success(1, 0.5)}));
  REQUIRE(
      apply(state, final_planned{.reason = "the clock", .trainings = {{1, 4, {0, 1}}}}));
  CHECK(next_step(state).breed.empty());
  REQUIRE(apply(state, candidate_evaluated{a_failure(2, outcome::dropped)}));
  REQUIRE(apply(state, candidate_evaluated{a_failure(3, outcome::dropped)}));
  REQUIRE(apply(state, candidate_born{next_step(state).finals.front()}));
  CHECK_FALSE(apply(state, run_finished{.champion = 1}));
  REQUIRE(apply(state, candidate_evaluated{a_success(4, 0.6)}));
  CHECK(next_step(state).finish);
  CHECK(apply(state, run_finished{.champion = 4}));
}

TEST_CASE("final stage: its records come back as they were written") {
  for (const record& r :
       {record{final_planned{"the clock", 900, {{3, 40, {1, 5}}, {4, 2, {0, 1}}}}},
        record{model_composed{
            {{0, 0.25}, {12, 0.75, 1.25}},
            1.5,
            {{"validation.loss", 0.5}},
            {"#3: damaged"},
            0.002,
            {{{"#12", 12, {{"validation.loss", 0.5}}, 77, 0.75}, {"boosted trees"}}}}},
        record{
            model_composed{.members = {{0, 0.25},
                                       {0, 0.5, 1, tree_sizes{.trees = 90, .depth = 6}},
                                       {12, 0.25}}}},
        record{model_composed{.members = {{.id = 12, .share = 1, .mirrored = true}}}},
        record{model_composed{.members = {{.id = 0,
                                         .share = 1,
                                         .convolutions = convolution_sizes{7, 18, 4}}}}},
        record{model_composed{
            .members = {{.id = 0, .share = 0.5}, {.share = 0.5, .smoothing = true}}}},
        record{interim_composed{{.members = {{12, 1}}}}}}) {
    const auto again = decode_record(encode(r));
    REQUIRE(again);
    CHECK(encode(*again) == encode(r));
    CHECK(decisive_bytes(r).empty() == std::holds_alternative<interim_composed>(r));
  }
  CHECK_FALSE(decode_record(encode(record{interim_composed{{.members = {{1, 1.5}}}}})));
  CHECK_FALSE(decode_record(encode(record{model_composed{.members = {{1, 1.5}}}})));
  for (const double least : {0.0, 0.6})
    CHECK_FALSE(decode_record(
        encode(record{model_composed{.members = {{1, 1}}, .least = least}})));
  CHECK_FALSE(decode_record(
      encode(record{model_composed{.members = {{1, 1}}, .models = {{{.share = 1.5}}}}})));
  for (const ensemble_member& m :
       {ensemble_member{0, 1, 1, tree_sizes{.trees = 0, .depth = 6}},
        ensemble_member{0, 1, 1, tree_sizes{.trees = 9, .depth = 60}},
        ensemble_member{3, 1, 1, tree_sizes{.trees = 9, .depth = 6}},
        ensemble_member{.id = 0, .share = 1, .mirrored = true},
        ensemble_member{.id = 0, .share = 1, .convolutions = convolution_sizes{99, 1, 1}},
        ensemble_member{.id = 3, .share = 1, .convolutions = convolution_sizes{}},
        ensemble_member{.id = 3, .share = 1, .smoothing = true},
        ensemble_member{.share = 1, .trees = tree_sizes{}, .smoothing = true},
        ensemble_member{.id = 0,
        .share = 1,
        .trees = tree_sizes{},
        .convolutions = convolution_sizes{}}})
    CHECK_FALSE(decode_record(encode(record{model_composed{.members = {m}}})));
  CHECK_FALSE(
      decode_record(encode(record{final_planned{.trainings = {{1, 1, {5, 5}}}}})));
}

TEST_CASE("final stage: a sentence names what is part of the final model") {
  const record r = model_composed{
      .members = {
          {0, 0.25}, {0, 0.5, 1, tree_sizes{.trees = 90, .depth = 6}}, {12, 0.25}}};
  CHECK(to_text(r)
        == "the final model: 0.25 of the linear model 0.50 of boosted trees 0.25 of #12");
  CHECK(to_text(
            ensemble_member{.share = 0.5, .convolutions = convolution_sizes{7, 18, 4}}, 1)
        == "0.5 of random convolutions");
  CHECK(to_text(ensemble_member{.share = 0.5, .smoothing = true}, 1)
        == "0.5 of exponential smoothing");
}

TEST_CASE("final stage: a candidate of the end keeps its fold") {
  auto c = a_candidate(4, 1);
  c.fold = {1, 3};
  const auto again = decode_record(encode(record{candidate_born{c}}));
  REQUIRE(again);
  CHECK(std::get<candidate_born>(*again).born.fold == data_fold{1, 3});
  auto without = c;
  without.fold = {};
  CHECK(decisive_bytes(record{candidate_born{c}})
        != decisive_bytes(record{candidate_born{without}}));
}

TEST_CASE("final stage: a candidate of the end keeps its threads") {
  auto c = a_candidate(4, 1);
  c.fold = {0, 1};
  c.threads = 2;
  const auto again = decode_record(encode(record{candidate_born{c}}));
  REQUIRE(again);
  CHECK(std::get<candidate_born>(*again).born.threads == 2);
  auto alone = c;
  alone.threads = 1;
  CHECK(decisive_bytes(candidate_born{c}) != decisive_bytes(candidate_born{alone}));
  c.threads = most_threads + 1;
  CHECK_FALSE(decode_record(encode(record{candidate_born{c}})));
  const record planned = final_planned{.trainings = {{1, 9, {0, 1}, 2}, {2, 9, {0, 1}}}};
  const auto plan_again = decode_record(encode(planned));
  REQUIRE(plan_again);
  CHECK(std::get<final_planned>(*plan_again).trainings[0].threads == 2);
  CHECK_FALSE(std::get<final_planned>(*plan_again).trainings[1].threads);
}
