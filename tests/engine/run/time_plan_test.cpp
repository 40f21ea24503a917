#include "engine/run/steps/time_plan.hpp"

#include <catch2/catch.hpp>
#include <rapidcheck.h>
#include <rapidcheck/catch.h>

using namespace clade;
using namespace std::chrono_literals;

namespace {

const final_params ensemble{.model = "ensemble"};
const final_means ten_minutes{.slots = 2, .time = 600s, .epochs = 15};

} // namespace

TEST_CASE("run clock: each order is given once, and in this order") {
  run_clock clock;
  const auto look = [&](double used) {
    return clock.look(used, ensemble, ten_minutes, 0.001);
  };
  CHECK(look(0.1) == clock_order::none);
  CHECK(look(0.51) == clock_order::end_search);
  CHECK(look(0.52) == clock_order::none);
  CHECK(look(0.97) == clock_order::end_trainings);
  CHECK(look(0.98) == clock_order::none);
  CHECK(look(1.01) == clock_order::stop);
  CHECK(look(1.02) == clock_order::none);
}

TEST_CASE("run clock: somebody who looks late hears of all of them") {
  run_clock clock;
  CHECK(clock.look(2, ensemble, ten_minutes, 0.001) == clock_order::end_search);
  CHECK(clock.look(2, ensemble, ten_minutes, 0.001) == clock_order::end_trainings);
  CHECK(clock.look(2, ensemble, ten_minutes, 0.001) == clock_order::stop);
  CHECK(clock.look(2, ensemble, ten_minutes, 0.001) == clock_order::none);
}

TEST_CASE("run clock: a run without trainings at its end is stopped, and nothing else") {
  run_clock clock;
  CHECK(clock.look(0.99, {}, ten_minutes, 0.001) == clock_order::none);
  CHECK(clock.look(1, {}, ten_minutes, 0.001) == clock_order::stop);
  CHECK(clock.look(1.1, {}, ten_minutes, 0.001) == clock_order::none);
}

TEST_CASE("time plan: a search fits into its share of the time") {
  rc::prop("for any speed", [] {
    const double seconds = *rc::gen::inRange(10, 7200);
    const double epoch = seconds * *rc::gen::inRange(1, 1000) / 4000.0;
    const auto slots = *rc::gen::inRange<std::size_t>(1, 65);
    const auto fitted = fit_search({}, epoch, slots, seconds, 3600s);
    RC_ASSERT(fitted.size.epochs >= 3);
    RC_ASSERT(fitted.size.epochs <= 15);
    RC_ASSERT(fitted.size.population >= 4);
    RC_ASSERT(fitted.size.generations >= 1);
    // At most a quarter of the search, so that each slot has some in turn.
    RC_ASSERT(static_cast<double>(fitted.evaluation_time.count())
              <= std::max(1.0, std::ceil(seconds / 8)));
  });
}
