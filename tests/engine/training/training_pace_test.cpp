#include "engine/training/loop/training_pace.hpp"

#include <catch2/catch.hpp>
#include <rapidcheck.h>

#include <algorithm>
#include <functional>
#include <vector>

using namespace clade;
using namespace std::chrono_literals;

namespace {

using clock_type = training_pace::clock;
using seconds_of = std::function<double(std::uint64_t)>;

constexpr clock_type::time_point start{1h};

clock_type::duration of_seconds(double s) {
  return std::chrono::duration_cast<clock_type::duration>(
      std::chrono::duration<double>(s));
}

training_pace::limits limits_of(std::uint64_t steps, double seconds) {
  return {.steps = steps, .begin = start, .end = start + of_seconds(seconds)};
}

/// The course of a training: the progress before each of its steps, and when it was
/// complete.
struct course {
  std::vector<double> progress{};
  double seconds = 0;
};

/// Trains with a pace from a step and a time on, on a machine whose steps take so long.
course trained(training_pace& pace, const seconds_of& step_takes, std::uint64_t from = 0,
               double at = 0, std::uint64_t until = ~std::uint64_t{0}) {
  course c{.seconds = at};
  for (auto step = from; step < until; ++step) {
    pace.look(step, start + of_seconds(c.seconds));
    if (pace.over(step))
      break;
    c.progress.push_back(pace.progress(step));
    c.seconds += step_takes(step);
  }
  return c;
}

/// Machines of several kinds: steady, slower from some step on, with a slow first step,
/// with steps of any length.
seconds_of a_machine() {
  const auto kind = *rc::gen::inRange(0, 4);
  const double step = 1e-3 * *rc::gen::inRange(1, 200);
  const auto change = *rc::gen::inRange<std::uint64_t>(0, 400);
  const double factor = *rc::gen::inRange(1, 10);
  const auto lengths = *rc::gen::container<std::vector<int>>(16, rc::gen::inRange(1, 40));
  return [=](std::uint64_t i) {
    switch (kind) {
    case 0:
      return step;
    case 1:
      return i < change ? step : step * factor;
    case 2:
      return i == 0 ? 1.0 : step;
    default:
      return step * 0.05 * lengths[i % lengths.size()];
    }
  };
}

} // namespace

TEST_CASE("training pace: where the steps fit, the clock decides nothing") {
  training_pace pace(limits_of(100, 10));
  const auto c = trained(pace, [](auto) { return 0.05; });
  CHECK_FALSE(pace.by_clock());
  CHECK(pace.log().empty());
  REQUIRE(c.progress.size() == 100);
  for (std::size_t i = 0; i < c.progress.size(); ++i)
    CHECK(c.progress[i] == static_cast<double>(i) / 100);
}

TEST_CASE("training pace: one without a deadline has no clock") {
  training_pace pace({.steps = 10, .begin = start});
  CHECK(trained(pace, [](auto) { return 1e6; }).progress.size() == 10);
  CHECK_FALSE(pace.by_clock());
}

TEST_CASE("training pace: a slow first step alone changes nothing") {
  training_pace pace(limits_of(100, 10));
  trained(pace, [](std::uint64_t i) { return i == 0 ? 3.0 : 0.05; });
  CHECK_FALSE(pace.by_clock());
}

TEST_CASE("training pace: where the steps do not fit, it is complete in time") {
  for (const double step : {0.02, 0.1, 0.5, 1.0}) {
    CAPTURE(step);
    training_pace pace(limits_of(10'000, 20));
    const auto c = trained(pace, [&](auto) { return step; });
    CHECK(pace.by_clock());
    CHECK(c.progress.back() > 0.5);
    CHECK(c.seconds <= 20 + step);
    CHECK(c.seconds >= 20 * 0.85 - step);
  }
}

TEST_CASE("training pace: time is kept for what follows the last step") {
  auto limits = limits_of(10'000, 20);
  limits.reserve_steps = 40;
  training_pace pace(limits);
  const auto c = trained(pace, [](auto) { return 0.1; });
  CHECK(c.seconds <= 16.2);
  CHECK(c.seconds >= 14);
}

TEST_CASE("training pace: progress never falls, ends in time, and its log repeats it") {
  CHECK(rc::check("for machines of all kinds", [] {
    const auto steps = *rc::gen::inRange<std::uint64_t>(1, 2000);
    const double time = *rc::gen::inRange(1, 60);
    const auto machine = a_machine();
    training_pace pace(limits_of(steps, time));
    const auto c = trained(pace, machine);
    RC_ASSERT(std::ranges::is_sorted(c.progress));
    RC_ASSERT(c.progress.empty() || c.progress.back() < 1);
    RC_ASSERT(pace.over(c.progress.size()));
    // Beside steps that were decided on before the machine became slower.
    double longest = 0;
    for (std::uint64_t i = 0; i < c.progress.size(); ++i)
      longest = std::max(longest, machine(i));
    const double slice = 1 + static_cast<double>(c.progress.size()) / 16;
    if (pace.by_clock())
      RC_ASSERT(c.seconds <= time + longest * (2 + slice));
    training_pace again({.steps = steps});
    RC_ASSERT(again.follow(pace.log()).has_value());
    const auto same = trained(again, [](auto) { return 1e3; });
    RC_ASSERT(same.progress == c.progress);
    RC_ASSERT(again.log() == pace.log());
  }));
}

TEST_CASE("training pace: one that goes on later is complete in the time it had left") {
  CHECK(rc::check("after any step", [] {
    const auto steps = *rc::gen::inRange<std::uint64_t>(500, 5000);
    const double step = 1e-3 * *rc::gen::inRange(20, 60);
    training_pace first(limits_of(steps, 10));
    const auto stop = *rc::gen::inRange<std::uint64_t>(0, 150);
    const auto machine = [&](auto) { return step; };
    const auto before = trained(first, machine, 0, 0, stop);
    const auto from = before.progress.size();
    // An hour later, in another process.
    training_pace second(limits_of(steps, 10));
    RC_ASSERT(
        second.go_on(first.log(), from, start + of_seconds(before.seconds)).has_value());
    const auto after = trained(second, machine, from, before.seconds);
    auto all = before.progress;
    all.insert(all.end(), after.progress.begin(), after.progress.end());
    RC_ASSERT(std::ranges::is_sorted(all));
    RC_ASSERT(second.over(all.size()));
    if (second.by_clock())
      RC_ASSERT(after.seconds <= 10 + before.seconds + 1);
    training_pace again({.steps = steps});
    RC_ASSERT(again.follow(second.log()).has_value());
    RC_ASSERT(trained(again, machine).progress == all);
  }));
}

TEST_CASE("training pace: damaged logs and those of other trainings are refused") {
  training_pace pace(limits_of(10'000, 5));
  trained(pace, [](auto) { return 0.05; });
  const auto log = pace.log();
  REQUIRE(!log.empty());
  CHECK_FALSE(training_pace({.steps = 9'999}).follow(log));
  for (std::size_t i = 0; i < log.size(); ++i) {
    auto damaged = log;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x10);
    CHECK_FALSE(training_pace({.steps = 10'000}).follow(damaged));
    CHECK_FALSE(training_pace({.steps = 10'000})
                    .follow(log.substr(0, i + 1 == log.size() ? 1 : i + 1)));
  }
}
