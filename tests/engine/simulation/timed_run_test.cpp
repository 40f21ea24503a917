#include "engine/simulation/timed_run.hpp"
#include "search_spaces/files/built_in.hpp"

#include <catch2/catch.hpp>
#include <rapidcheck.h>
#include <rapidcheck/catch.h>

using namespace clade;

namespace {

timed_run run(const made_up_world& w) {
  static const auto tables =
      std::make_shared<const search_space>(load_built_in_space("tabular").value());
  return planned_run(w, tables).and_then(simulate_timed_run).value();
}

} // namespace

TEST_CASE("timed run: work takes longer while a machine is slow") {
  const made_up_world w{.seconds = 100,
                        .slow = {{.from = 0.5, .until = 0.6, .factor = 5}}};
  CHECK(end_of_work(w, 0, 50) == Approx(50));
  CHECK(end_of_work(w, 45, 7) == Approx(60));
  CHECK(end_of_work(w, 45, 10) == Approx(63));
  CHECK(work_done(w, 45, 63) == Approx(10));
  CHECK(work_done(w, 70, 80) == Approx(10));
}

TEST_CASE("timed run: the mean error counts what was at hand, and only what was better") {
  timed_run r;
  CHECK(mean_error(r, 10) == Approx(0.9));
  r.models = {{.at = 5, .error = 0.5}, {.at = 6, .error = 0.7}};
  CHECK(mean_error(r, 10) == Approx(0.7));
}

TEST_CASE(
    "timed run: on any machine trainings are over in time, and none that ended is lost") {
  rc::prop("for any networks", [] {
    const auto kind =
        *rc::gen::element(machine_kind::quiet, machine_kind::slower, machine_kind::stops);
    const auto w = drawn_world(*rc::gen::arbitrary<std::uint64_t>(), kind);
    const auto r = run(w);
    RC_ASSERT(r.trained_until <= (kind == machine_kind::quiet ? 0.98 : 1.01) * w.seconds);
    RC_ASSERT(r.finals + r.dropped <= r.planned);
    if (r.best_validated < 0.9) {
      RC_ASSERT(!r.models.empty());
      RC_ASSERT(r.models.back().error == r.best_validated);
    }
    RC_CLASSIFY(r.finals > 0, "trained to the end");
    RC_CLASSIFY(!r.models.empty() && r.models.front().at <= 0.1 * w.seconds,
                "a model after a tenth");
  });
}

TEST_CASE(
    "timed run: of a hundred quiet machines nearly all have a model after a tenth") {
  std::size_t in_time = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const auto w = drawn_world(seed, machine_kind::quiet);
    in_time += error_at(run(w), 0.1 * w.seconds) < 0.9 ? 1 : 0;
  }
  CHECK(in_time >= 90);
}

TEST_CASE("timed run: the same world gives the same run") {
  const auto w = drawn_world(7, machine_kind::stops);
  const auto one = run(w), other = run(w);
  CHECK(one.ended == other.ended);
  CHECK(one.evaluated == other.evaluated);
  CHECK(mean_error(one, w.seconds) == mean_error(other, w.seconds));
}
