#include "engine/run/steps/run_course.hpp"
#include "tests/engine/search/toy_world.hpp"

#include <catch2/catch.hpp>

using namespace clade;

namespace {

run_rules one_generation_of_two(const std::string& model = "none") {
  auto rules = toy_rules("random");
  rules.evolution.population = 2;
  rules.evolution.generations = 1;
  rules.final_stage.model = model;
  return rules;
}

/// A run with #1 and #2 open.
run_state two_open(const run_rules& rules = one_generation_of_two()) {
  return fold(rules,
              {run_started{.version = "0", .seed = 1}, candidate_born{a_candidate(1, 10)},
               candidate_born{a_candidate(2, 20)}});
}

void evaluate(run_state& run, candidate_id id, double accuracy) {
  REQUIRE(clade::apply(run, candidate_evaluated{a_success(id, accuracy)}));
}

/// A run whose only generation is closed.
run_state searched(const run_rules& rules = one_generation_of_two()) {
  auto run = two_open(rules);
  evaluate(run, 1, 0.5);
  evaluate(run, 2, 0.75);
  REQUIRE(clade::apply(run, *next_step(run).close));
  return run;
}

/// A run whose only generation is closed and whose end is planned: one training.
run_state planned() {
  auto run = searched(one_generation_of_two("best"));
  REQUIRE(clade::apply(
      run, final_planned{.trainings = {{.source = 2, .epochs = 5, .fold = {0, 1}}}}));
  return run;
}

/// The things that are due, by name.
std::string due(const run_state& run, const run_course& course,
                const under_way& present) {
  const auto d = due_steps(run, course, present);
  std::string text;
  for (const auto& b : d.breed)
    text += " breed#" + std::to_string(b.id);
  for (const auto& c : d.copy)
    text += " copy#" + std::to_string(c.id);
  text += d.close ? " close" : "";
  text += d.plan ? " plan" : "";
  for (const auto& c : d.finals)
    text += " train#" + std::to_string(c.id);
  text += d.finish ? " finish" : "";
  return text;
}

std::string due(const run_state& run, const run_course& course = {}) {
  return due(run, course, nothing_under_way(run));
}

std::string refusal(const run_state& run, const run_course& course, instruction_kind kind,
                    std::uint64_t number = 0) {
  return why_not(run, course, {.kind = kind, .number = number});
}

} // namespace

TEST_CASE("run course: a run goes on where its records end") {
  CHECK(to_text(course_of(two_open())) == "searching");
  CHECK(to_text(course_of(planned())) == "ending");
}

TEST_CASE("run course: each stage has steps of its own") {
  const auto new_run = fold(one_generation_of_two(), {run_started{.seed = 1}});
  CHECK(due(new_run) == " breed#1 breed#2");
  CHECK(due(two_open()).empty());
  CHECK(due(searched()) == " finish");
  CHECK(due(searched(one_generation_of_two("best"))) == " plan");
  CHECK(due(planned(), {.stage = run_stage::ending}) == " train#3");
}

TEST_CASE("run course: a step that is under way is not due again") {
  auto run = two_open();
  evaluate(run, 1, 0.5);
  evaluate(run, 2, 0.75);
  auto present = nothing_under_way(run);
  CHECK(due(run, {}, present) == " close");
  present.closed = 1;
  CHECK(due(run, {}, present).empty());
  CHECK(due(searched(), {.stage = run_stage::finishing}).empty());
  CHECK(
      due(searched(one_generation_of_two("best")), {.stage = run_stage::ending}).empty());

  const auto new_run = fold(one_generation_of_two(), {run_started{.seed = 1}});
  CHECK(due(new_run, {}, {.ordered = 1}) == " breed#2");
}

TEST_CASE("run course: a copy that is being made is not due again") {
  auto copy = a_candidate(2, 10);
  copy.equal_to = 1;
  auto run = fold(one_generation_of_two(),
                  {run_started{.seed = 1}, candidate_born{a_candidate(1, 10)},
                   candidate_born{copy}, candidate_evaluated{a_success(1, 0.5)}});
  auto present = nothing_under_way(run);
  CHECK(due(run, {}, present) == " copy#2");
  present.copying.insert(2);
  CHECK(due(run, {}, present).empty());
}

TEST_CASE("run course: offspring are resolved when earlier births are applied") {
  const auto run = two_open();
  auto present = nothing_under_way(run);
  CHECK(may_resolve(run, {}, present));
  CHECK_FALSE(may_resolve(run, {.stop = stop_wish::pause}, present));
  CHECK_FALSE(may_resolve(run, {.stage = run_stage::ending}, present));
  present.accepted = 3;
  CHECK_FALSE(may_resolve(run, {}, present));
}

TEST_CASE("run course: a run that is to stop does no more than its wish allows") {
  const auto new_run = fold(one_generation_of_two(), {run_started{.seed = 1}});
  CHECK(due(new_run, {.stop = stop_wish::end_if_complete}).empty());
  CHECK(due(searched(), {.stop = stop_wish::end_if_complete}) == " finish");
  CHECK(due(searched(), {.stop = stop_wish::pause}).empty());
  CHECK(due(planned(), {.stage = run_stage::ending, .stop = stop_wish::end_if_complete})
            .empty());
  CHECK(due(searched(), {.stage = run_stage::pausing}).empty());
  CHECK(due(searched(), {.stage = run_stage::over}).empty());
}

TEST_CASE("run course: the first stop asks for what no node has, a later one does not") {
  const auto run = two_open();
  run_course course;
  CHECK(told_to_stop(course, run, true, false) == stop_answer::withdraws);
  CHECK(to_text(course) == "searching, to pause unless complete, withdrawal asked");
  course.withdrawal = withdrawal::settled;
  CHECK(told_to_stop(course, run, true, false) == stop_answer::passed_over);
  CHECK(told_to_stop(course, run, false, false) == stop_answer::noted);
  CHECK(to_text(course) == "searching, to pause");
  CHECK(told_to_stop(course, run, true, false) == stop_answer::passed_over);
  CHECK(told_to_stop(course, run, false, true) == stop_answer::withdraws);
  CHECK(to_text(course) == "searching, to pause, withdrawal asked");
}

TEST_CASE("run course: a run that finishes is let finish, but for who insists") {
  run_course course{.stage = run_stage::finishing};
  CHECK(told_to_stop(course, searched(), true, false) == stop_answer::passed_over);
  CHECK(to_text(course) == "finishing");
  CHECK(told_to_stop(course, searched(), false, false) == stop_answer::withdraws);
  CHECK(to_text(course) == "searching, to pause, withdrawal asked");

  course = {.stage = run_stage::finishing};
  CHECK(told_to_stop(course, planned(), false, false) == stop_answer::withdraws);
  CHECK(to_text(course) == "ending, to pause, withdrawal asked");

  course = {.stage = run_stage::over};
  CHECK(told_to_stop(course, searched(), false, false) == stop_answer::passed_over);
  CHECK(to_text(course) == "over");
}

TEST_CASE("run course: it pauses when nothing is in training and all is settled") {
  const auto run = two_open();
  auto present = nothing_under_way(run);
  const run_course stops{.stop = stop_wish::pause};
  CHECK_FALSE(may_pause(run, stops, present, {}));
  CHECK_FALSE(may_pause(run, stops, present, {1}));
  CHECK(may_pause(run, stops, present, {1, 2}));
  CHECK_FALSE(may_pause(run, {}, present, {1, 2}));

  auto asked = stops;
  asked.withdrawal = withdrawal::asked;
  CHECK_FALSE(may_pause(run, asked, present, {1, 2}));
  for (const auto stage : {run_stage::finishing, run_stage::pausing, run_stage::over}) {
    auto elsewhere = stops;
    elsewhere.stage = stage;
    CHECK_FALSE(may_pause(run, elsewhere, present, {1, 2}));
  }
  present.closed = 1;
  CHECK_FALSE(may_pause(run, stops, present, {1, 2}));
}

TEST_CASE("run course: it does not wait for candidates that are to be copies") {
  auto copy = a_candidate(2, 10);
  copy.equal_to = 1;
  const auto run = fold(
      one_generation_of_two(),
      {run_started{.seed = 1}, candidate_born{a_candidate(1, 10)}, candidate_born{copy}});
  CHECK(may_pause(run, {.stop = stop_wish::pause}, nothing_under_way(run), {1}));
}

TEST_CASE("run course: a search whose time is used is trained to its end") {
  auto run = two_open(one_generation_of_two("best"));
  CHECK(told_to_end({}, run, false) == end_answer::waits_for_success);
  evaluate(run, 1, 0.5);
  CHECK(told_to_end({}, run, false) == end_answer::plans);
  CHECK(told_to_end({.stop = stop_wish::pause}, run, false) == end_answer::passed_over);
  CHECK(told_to_end({.stage = run_stage::over}, run, false) == end_answer::passed_over);
  CHECK(told_to_end({}, two_open(), false) == end_answer::passed_over);

  const run_course ending{.stage = run_stage::ending};
  CHECK(told_to_end(ending, planned(), false) == end_answer::passed_over);
  CHECK(told_to_end(ending, planned(), true) == end_answer::drops_trainings);
}

TEST_CASE("run course: a run stops after a generation where somebody wants it to") {
  auto run = searched();
  CHECK_FALSE(why_stop_after(run, 3, ""));
  CHECK(why_stop_after(run, 3, "ada") == "stopped by ada after generation 3");
}

TEST_CASE("run course: orders that do not fit the course are refused with the reason") {
  const auto run = two_open();
  run_course course;
  CHECK(refusal(run, course, instruction_kind::hold).empty());
  CHECK(refusal(run, course, instruction_kind::go_on) == "the run is not held");
  CHECK(refusal(run, course, instruction_kind::begin_with) == "the search has begun");
  CHECK(refusal(run, course, instruction_kind::drop, 2).empty());
  CHECK(refusal(run, course, instruction_kind::drop, 3) == "#3 is not open");
  CHECK(refusal(run, course, instruction_kind::extend, 0)
        == "extend it by at least one generation");
  CHECK(refusal(run, course, instruction_kind::extend, 1).empty());
  CHECK(refusal(run, course, instruction_kind::add)
        == "no generation is left that the genome could be in: extend the run first");
  CHECK(refusal(run, course, instruction_kind::slots).empty());

  course.handing_out = handing_out::held;
  CHECK(refusal(run, course, instruction_kind::hold) == "the run is held already");
  CHECK(refusal(run, course, instruction_kind::go_on).empty());
  course = {.stage = run_stage::finishing};
  CHECK(refusal(run, course, instruction_kind::extend, 1) == "the search is over");
}

TEST_CASE(
    "run course: a run that stops takes notes and no orders, one that is over none") {
  const auto run = two_open();
  const instruction note{.kind = instruction_kind::note, .number = 1, .text = "slow"};
  const run_course stops{.stop = stop_wish::pause};
  CHECK(refusal(run, stops, instruction_kind::hold) == "the run is at its end");
  CHECK(why_not(run, stops, note).empty());
  CHECK(why_not(run, {.stage = run_stage::over}, note) == "the run is at its end");
}

TEST_CASE("run course: weights are kept of the best, checkpoints of what may breed") {
  auto rules = toy_rules("generational");
  rules.evolution.population = 2;
  rules.evolution.tournament = 2;
  auto run = searched(rules);
  CHECK(weights_to_keep(run) == std::vector<candidate_id>{2, 1, 2});
  // Trees of a model that is in use are no candidate.
  run.interim = model_composed{.members = {{7, 0.5}, {0, 0.5}}};
  CHECK(weights_to_keep(run) == std::vector<candidate_id>{2, 1, 2, 7});
  const auto kept = checkpoints_to_keep(run);
  CHECK(kept.last == 0);
  CHECK(std::ranges::find(kept.of, candidate_id(2)) != kept.of.end());
  // Nothing breeds any more when the search is over.
  const auto over = checkpoints_to_keep(searched());
  CHECK(over.last == 2);
  CHECK(over.of.empty());
}

TEST_CASE("run course: at the end of its search a run drops what it has open") {
  auto run = two_open(one_generation_of_two("best"));
  CHECK(open_to_drop(run, false) == std::vector<candidate_id>{1, 2});
  run = planned();
  CHECK(open_trainings(run) == 1);
  REQUIRE(clade::apply(run, candidate_born{next_step(run).finals.front()}));
  CHECK(open_to_drop(run, false).empty());
  CHECK(open_to_drop(run, true) == std::vector<candidate_id>{3});
  CHECK(open_trainings(run) == 1);
  evaluate(run, 3, 0.8);
  CHECK(open_trainings(run) == 0);
}

TEST_CASE("run course: the best random candidate is examined where it is another") {
  const auto subjects = [](const run_state& run) {
    std::string text;
    for (const auto& m : models_to_examine(run))
      text += m.subject + "#" + std::to_string(m.who.id) + " ";
    return text;
  };
  CHECK(subjects(two_open()).empty());
  CHECK(subjects(searched()) == "champion#2 ");
  auto run = planned();
  REQUIRE(clade::apply(run, candidate_born{next_step(run).finals.front()}));
  evaluate(run, 3, 0.8);
  CHECK(subjects(run) == "champion#3 best random candidate#2 ");
}
