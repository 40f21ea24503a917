#include "engine/run/state/final_stage.hpp"
#include "engine/run/state/learning_speed.hpp"
#include "engine/run/steps/next_step.hpp"
#include "tests/engine/search/toy_world.hpp"

#include <catch2/catch.hpp>
#include <rapidcheck.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <tuple>

using namespace clade;
using namespace std::chrono_literals;

namespace {

individual source(candidate_id id, double seconds_per_epoch = 1) {
  return {
      .id = id, .genome = nullptr, .fitness = {}, .seconds_per_epoch = seconds_per_epoch};
}

const std::vector<individual> four{source(7), source(3), source(9), source(5)};

final_planned plan(const final_params& params, std::chrono::milliseconds time,
                   std::size_t slots = 2, const std::vector<individual>& sources = four) {
  return plan_final_stage(params, sources, {.slots = slots, .time = time, .epochs = 10});
}

/// Trainings of several slots: the epochs are as many as there is room for.
final_planned plan_of_teams(const final_params& params, std::chrono::milliseconds time,
                            std::size_t slots = 2) {
  return plan_final_stage(params, four,
                          {.slots = slots, .time = time, .epochs = 10, .lone = false});
}

double seconds(const final_planned& p) {
  double sum = 0;
  for (const auto& t : p.trainings)
    sum +=
        t.epochs * std::ranges::find(four, t.source, &individual::id)->seconds_per_epoch;
  return sum;
}

final_params ensemble() {
  return {.model = "ensemble"};
}

} // namespace

TEST_CASE("final stage: without a limit of time three genomes are trained to the end") {
  const auto p = plan(ensemble(), 0ms);
  REQUIRE(p.trainings.size() == 3);
  CHECK(p.trainings[0].source == 7);
  CHECK(p.trainings[2].source == 9);
  CHECK(p.trainings[0].epochs == 60);
  CHECK(p.trainings[0].fold == data_fold{0, 1});
}

TEST_CASE("final stage: what somebody asks for is planned") {
  auto params = ensemble();
  params.members = 2;
  params.epochs = 7;
  params.folds = 3;
  const auto p = plan(params, 0ms);
  REQUIRE(p.trainings.size() == 6);
  CHECK(p.trainings[4].source == 3);
  CHECK(p.trainings[4].fold == data_fold{1, 3});
  CHECK(p.trainings[4].epochs == 7);
}

TEST_CASE("final stage: all of the plan fits into the time of the slots") {
  for (const auto time : {30s, 60s, 100s, 300s, 1000s, 5000s})
    for (const std::size_t slots : {1, 2, 3, 8}) {
      const auto p = plan_of_teams(ensemble(), time, slots);
      CAPTURE(time.count(), slots);
      CHECK(!p.trainings.empty());
      // The last epoch may be one that is begun.
      CHECK(seconds(p)
            <= 1.5 * static_cast<double>(slots) * static_cast<double>(time.count()));
      CHECK(p.time_ms < static_cast<std::uint64_t>(time.count()) * 1000);
    }
}

TEST_CASE("final stage: with little time each slot trains one, for fewer epochs") {
  const auto p = plan(ensemble(), 20s);
  REQUIRE(p.trainings.size() == 2);
  CHECK(p.trainings[0].epochs > 10);
  // Each without another half of the validation part.
  CHECK(p.trainings[1].source == 7);
  CHECK(p.trainings[1].fold == data_fold{1, 2});
}

TEST_CASE("final stage: folds that somebody asks for are trained for fewer epochs") {
  auto params = ensemble();
  params.folds = 4;
  const auto p = plan_of_teams(params, 100s);
  REQUIRE(p.trainings.size() == 4);
  CHECK(p.trainings[3].fold == data_fold{3, 4});
  CHECK(p.trainings[3].epochs < 60);
}

TEST_CASE("final stage: the slower an epoch the more of the time is for the end") {
  const final_means ten_minutes{.slots = 2, .time = 600s, .epochs = 10};
  CHECK(share_of_end(ensemble(), ten_minutes, 0.1) == 0.5);
  const double some = share_of_end(ensemble(), ten_minutes, 5);
  CHECK(some > 0.5);
  CHECK(some < 0.8);
  CHECK(share_of_end(ensemble(), ten_minutes, 12) == 0.8);
  CHECK(share_of_end(ensemble(), ten_minutes, 100) == 0.88);
  CHECK(share_of_end({.model = "best", .share = 0.3}, ten_minutes, 100) == 0.3);
  // Half of the wanted epochs, of which each takes an eighth longer than it did.
  const double longest = 480 * 0.86 / 1.12 / 30;
  const auto end = std::chrono::milliseconds(480s);
  CHECK(plan(ensemble(), end, 2, {source(1, 0.99 * longest), source(2)})
            .trainings.front()
            .source
        == 1);
  CHECK(plan(ensemble(), end, 2, {source(1, 1.01 * longest), source(2)})
            .trainings.front()
            .source
        == 2);
}

TEST_CASE("final stage: with much time genomes have folds") {
  const auto p = plan(ensemble(), 5000s);
  CHECK(p.trainings.front().fold.of == 5);
  CHECK(p.trainings.size() >= 15);
}

TEST_CASE(
    "final stage: a genome that is much slower than the best is left to the search") {
  const std::vector<individual> uneven{source(1), source(2, 9)};
  auto one_model_each = ensemble();
  one_model_each.folds = 1;
  for (const auto& t : plan(one_model_each, 20s, 2, uneven).trainings)
    CHECK(t.source == 1);
}

TEST_CASE("final stage: a slow genome gives way to one that can be trained for longer") {
  const std::vector<individual> uneven{source(1, 9), source(2, 1), source(3, 0.5)};
  CHECK(plan(ensemble(), 100s, 2, uneven).trainings.front().source == 2);
  CHECK(plan(ensemble(), 20s, 2, uneven).trainings.front().source == 3);
  CHECK(plan(ensemble(), 30s, 2, uneven).trainings.front().source == 3);
  CHECK(plan(ensemble(), 2000s, 2, uneven).trainings.front().source == 1);
  CHECK(plan(ensemble(), 0s, 2, uneven).trainings.front().source == 1);
}

TEST_CASE("final stage: a slow genome does not give way to a fast one that is worse") {
  const auto with = [](individual i, double primary) {
    i.fitness = {.ok = true, .primary = primary};
    return i;
  };
  // Accuracies, errors, and a metric of no known range; the last two are fast.
  for (const auto& [best, close, worse] :
       {std::tuple(0.44, 0.42, 0.306), std::tuple(-10.0, -10.5, -13.0),
        std::tuple(40.0, 39.0, 20.0)}) {
    CAPTURE(best);
    const auto slow = with(source(1, 9), best);
    const auto good =
        plan(ensemble(), 100s, 2, {slow, with(source(2), close), with(source(3), worse)});
    for (const auto& t : good.trainings)
      CHECK(t.source == 2);
    const auto lone = plan(ensemble(), 100s, 2, {slow, with(source(3), worse)});
    REQUIRE(!lone.trainings.empty());
    for (const auto& t : lone.trainings) {
      CHECK(t.source == 1);
      CHECK(t.epochs >= 1);
    }
    // A genome that cannot be trained for a part of an epoch leaves the time to the next.
    const auto first = [&](std::chrono::milliseconds time) {
      return plan(ensemble(), time, 2, {slow, with(source(3), worse)}).trainings.front();
    };
    CHECK(first(5s).source == 1);
    CHECK(first(5s).epochs >= 1);
    CHECK(first(1s).source == 3);
  }
}

namespace {

/// A genome whose training took so long, with an epoch each two seconds, and how its error
/// falls.
individual trained(candidate_id id, double error, double seconds, double exponent,
                   double seconds_per_epoch = 2) {
  auto i = source(id, seconds_per_epoch);
  i.fitness = {.ok = true, .primary = 1 - error};
  i.learning = {.seconds = seconds,
                .error = error,
                .exponent = exponent,
                .proven = exponent == proven_learning_exponent};
  return i;
}

} // namespace

TEST_CASE(
    "final stage: where none can be trained for long, the best at the end is chosen") {
  // The linear model is ahead after ten seconds, and has learnt what it can.
  const auto linear = trained(1, 0.62, 1, 0.02, 0.1);
  const auto convolutions = trained(2, 0.66, 10, 0.2, 5);
  const auto chosen = [&](std::chrono::milliseconds time, individual first,
                          individual second) {
    std::vector<candidate_id> ids;
    for (const auto& t : plan(ensemble(), time, 2, {first, second}).trainings)
      ids.push_back(t.source);
    return ids;
  };
  CHECK(chosen(120s, linear, convolutions) == std::vector<candidate_id>{2, 2});
  CHECK(chosen(10s, linear, convolutions).front() == 1);
  // One that is near has a slot too.
  const auto near = trained(3, 0.67, 10, 0.2, 5);
  CHECK(chosen(120s, convolutions, near) == std::vector<candidate_id>{2, 3});
  const auto worse = trained(3, 0.8, 10, 0.2, 5);
  CHECK(chosen(120s, convolutions, worse) == std::vector<candidate_id>{2, 2});
  // Each has all of the time, and more epochs than are expected.
  const auto p = plan(ensemble(), 120s, 2, {convolutions, near});
  CHECK(p.trainings.front().epochs > 40);
  CHECK(p.time_ms == 108'000);
}

TEST_CASE(
    "final stage: a genome without time for a part of an epoch leaves it to others") {
  const auto slow = trained(1, 0.5, 9, 0.1, 9);
  const auto fast = trained(3, 0.8, 9, 0.1, 1);
  CHECK(plan(ensemble(), 5s, 2, {slow, fast}).trainings.front().source == 1);
  CHECK(plan(ensemble(), 1s, 2, {slow, fast}).trainings.front().source == 3);
}

TEST_CASE("final stage: no more are planned than there are slots where none can be "
          "trained for long") {
  CHECK(rc::check("for genomes of all kinds", [] {
    std::vector<individual> best;
    for (candidate_id id = 1; id <= 5; ++id)
      best.push_back(trained(id, 1e-3 * *rc::gen::inRange(1, 999),
                             *rc::gen::inRange(1, 30), 0.01 * *rc::gen::inRange(0, 30),
                             0.1 * *rc::gen::inRange(1, 400)));
    std::ranges::stable_sort(best, std::greater(),
                             [](const auto& i) { return i.fitness.primary; });
    const auto slots = *rc::gen::inRange<std::size_t>(1, 20);
    const auto time = std::chrono::seconds(*rc::gen::inRange(10, 2000));
    const auto p = plan(ensemble(), time, slots, best);
    double fastest = 1e9;
    for (const auto& i : best)
      fastest = std::min(fastest, i.seconds_per_epoch);
    if (0.86 * static_cast<double>(time.count()) >= 0.2 * 1.12 * fastest)
      RC_ASSERT(!p.trainings.empty());
    // Half of 60 wanted epochs are enough.
    const bool none_for_long =
        0.86 * static_cast<double>(time.count()) < 30 * 1.12 * fastest;
    if (none_for_long)
      RC_ASSERT(p.trainings.size() <= slots);
    for (const auto& t : p.trainings) {
      RC_ASSERT(t.epochs >= 1);
      RC_ASSERT(t.epochs <= 180);
    }
  }));
}

TEST_CASE(
    "final stage: one that is proven has a slot where short trainings tell little") {
  const auto ahead = trained(1, 0.3, 10, 0.3, 20), near = trained(2, 0.31, 10, 0.3, 20);
  const auto proven = trained(3, 0.8, 10, proven_learning_exponent, 20);
  const auto p = plan(ensemble(), 120s, 2, {ahead, near, proven});
  REQUIRE(p.trainings.size() == 2);
  CHECK(p.trainings[0].source == 1);
  CHECK(p.trainings[1].source == 3);
  // The largest of those that are proven and take about as long.
  auto larger = trained(4, 0.85, 10, proven_learning_exponent, 25);
  larger.parameters = 300'000;
  const auto with = plan(ensemble(), 120s, 2, {ahead, near, proven, larger});
  REQUIRE(with.trainings.size() == 2);
  CHECK(with.trainings[0].source == 1);
  CHECK(with.trainings[1].source == 4);
}

TEST_CASE("final stage: without time for an epoch, or without genomes, none is trained") {
  CHECK(plan(ensemble(), 100ms).trainings.empty());
  CHECK(plan(ensemble(), 0ms, 2, {}).trainings.empty());
}

TEST_CASE("final stage: what nobody can mean is refused") {
  CHECK(validate(final_params{}));
  CHECK_FALSE(validate(final_params{.model = "best of all"}));
  CHECK_FALSE(validate(final_params{.members = 6}));
  CHECK_FALSE(validate(final_params{.folds = 21}));
  CHECK_FALSE(validate(final_params{.share = 1}));
}

TEST_CASE("final stage: a training of very few epochs has several cores") {
  const auto plan_on = [](std::size_t cores, double seconds_per_epoch,
                          std::size_t slots) {
    return plan_final_stage(ensemble(), std::vector{source(1, seconds_per_epoch)},
                            {.slots = slots, .time = 100s, .epochs = 10, .cores = cores});
  };
  // About nine epochs by one core: two have fifteen, and there are no more.
  const auto both = plan_on(2, 8, 2);
  REQUIRE(both.trainings.size() == 1);
  CHECK(both.trainings[0].threads == 2);
  CHECK(both.trainings[0].epochs > 15);
  // Three have 22, and so sixteen cores are for five trainings.
  const auto five = plan_on(16, 8, 16);
  CHECK(five.trainings.size() == 5);
  for (const auto& t : five.trainings)
    CHECK(t.threads == 3);
  // The slots of several machines train one each, with a core each.
  CHECK_FALSE(plan_on(1, 8, 2).trainings.front().threads);
  // Twenty epochs and more are enough.
  CHECK_FALSE(plan_on(2, 3, 2).trainings.front().threads);
}

TEST_CASE("final stage: as many threads as there are cores at most") {
  rc::check([] {
    std::vector<individual> best;
    const auto genomes = *rc::gen::inRange(1, 5);
    for (int i = 0; i < genomes; ++i)
      best.push_back(source(static_cast<candidate_id>(i + 1),
                            0.001 * *rc::gen::inRange(1, 100'000)));
    const auto slots = *rc::gen::inRange<std::size_t>(1, 40);
    const auto cores = *rc::gen::element<std::size_t>(1, slots);
    const std::chrono::milliseconds time(*rc::gen::inRange(1, 600'000));
    const auto p = plan_final_stage(
        ensemble(), best, {.slots = slots, .time = time, .epochs = 10, .cores = cores});
    std::size_t threads = 0;
    for (const auto& t : p.trainings) {
      RC_ASSERT(t.threads.value_or(2) > 1);
      threads += t.threads.value_or(1);
    }
    const bool several = std::ranges::any_of(
        p.trainings, [](const final_training& t) { return t.threads.has_value(); });
    if (several)
      RC_ASSERT(threads <= cores);
  });
}

TEST_CASE("final stage: the proven genome alone has all cores if there is time") {
  const auto other = trained(1, 0.1, 3, 0.3, 8);
  const auto first = [&](double seconds_per_epoch) {
    const auto proven = trained(2, 0.9, 3, proven_learning_exponent, seconds_per_epoch);
    const auto p = plan_final_stage(ensemble(), std::vector{other, proven},
                                    {.slots = 2, .time = 100s, .epochs = 10, .cores = 2});
    REQUIRE(!p.trainings.empty());
    return p.trainings.front().source;
  };
  CHECK(first(8) == 2);
  CHECK(first(200) == 2);
  CHECK(first(1000) == 1); // There is no time for a fifth of an epoch.
}

TEST_CASE(
    "final stage: the largest proven seed is taken if short trainings tell nothing") {
  const auto near = [](candidate_id id, double error, std::uint64_t parameters,
                       double seconds_per_epoch = 8) {
    auto i = trained(id, error, 3, proven_learning_exponent, seconds_per_epoch);
    i.parameters = parameters;
    return i;
  };
  const auto chosen = [](const std::vector<individual>& best) {
    const auto p = plan_final_stage(ensemble(), best,
                                    {.slots = 2, .time = 100s, .epochs = 10, .cores = 2});
    REQUIRE(p.trainings.size() == 1);
    return p.trainings.front().source;
  };
  const auto other = trained(1, 0.1, 3, 0.3, 8);
  CHECK(chosen({other, near(2, 0.85, 70'000), near(3, 0.9, 300'000, 10)}) == 3);
  CHECK(chosen({other, near(2, 0.85, 70'000), near(3, 0.9, 300'000, 20)}) == 2);
  // One that misses a constraint is no choice.
  auto missing = near(3, 0.9, 300'000);
  missing.fitness.violation = 1;
  CHECK(chosen({near(2, 0.85, 70'000), missing}) == 2);
}

TEST_CASE("final stage: folds of an ensemble are judged apart") {
  CHECK(plan(ensemble(), 0ms).folds_apart == true);
  // If there is no ensemble, they would be of no use.
  const auto best = plan({.model = "best"}, 5000s);
  CHECK_FALSE(best.folds_apart);
  for (const auto& t : best.trainings)
    CHECK(t.fold == data_fold{0, 1});
}
