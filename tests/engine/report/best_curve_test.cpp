#include "engine/report/base/best_curve.hpp"
#include "tests/engine/store/history.hpp"
#include "tests/support/scratch.hpp"

#include <catch2/catch.hpp>

using namespace clade;
using namespace clade::test;

namespace {

std::vector<evaluation_row> rows() {
  return {{.id = 1, .sequence = 9, .fitness = 0.5, .seconds = 2},
          {.id = 2, .sequence = 4, .fitness = std::nullopt, .seconds = 1},
          {.id = 3, .sequence = 5, .fitness = 0.7, .seconds = 3},
          {.id = 4, .sequence = 6, .fitness = 0.6, .seconds = 4}};
}

std::string to_text(const std::vector<best_step>& steps) {
  std::string text;
  for (const auto& s : steps)
    text += std::to_string(static_cast<int>(s.effort)) + ":"
            + std::to_string(s.best).substr(0, 3) + " ";
  return text;
}

} // namespace

TEST_CASE("best curve: by evaluations it goes by ids, by time as they arrived") {
  CHECK(to_text(best_by_evaluations(rows(), true)) == "1:0.5 3:0.7 ");
  CHECK(to_text(best_by_evaluations(rows(), false)) == "1:0.5 ");
  const auto arrived = best_by_arrival(rows(), true);
  CHECK(to_text(arrived.by_training) == "4:0.7 ");
  CHECK(arrived.sequences == std::vector<std::uint64_t>{5});
  CHECK(to_text(best_by_arrival(rows(), false).by_training) == "4:0.7 8:0.6 10:0.5 ");
}

TEST_CASE("best curve: before the first success there is no best") {
  const auto steps = best_by_arrival(rows(), true).by_training;
  CHECK_FALSE(best_at(steps, 3.9).has_value());
  CHECK(best_at(steps, 4) == 0.7);
  CHECK(best_at(steps, 1000) == 0.7);
}

TEST_CASE("working time: pauses cost none") {
  const std::vector<node_overview> nodes{
      {.slot = "a", .joined_ms = 1000, .left_ms = 3000, .reason = ""},
      {.slot = "b", .joined_ms = 2000, .left_ms = 4000, .reason = ""},
      {.slot = "a", .joined_ms = 9000, .left_ms = {}, .reason = ""}};
  const working_time work(nodes, 0, 10'000);
  REQUIRE(work.stretches().size() == 2);
  CHECK(work.seconds() == 4);
  CHECK(work.seconds_until(500) == 0);
  CHECK(work.seconds_until(2500) == 1.5);
  CHECK(work.seconds_until(7000) == 3);
  CHECK(work.seconds_until(9500) == 3.5);
}

TEST_CASE("working time: without slots it is all the time there was") {
  CHECK(working_time({}, 1000, 3000).seconds() == 2);
}

TEST_CASE("best curve: a stored run has one by each measure") {
  const scratch_folder folder;
  const auto file = folder.path() / "run.db";
  write_store(file, a_history());
  const auto s = store::open_to_read(file).value();
  const auto curve = view_best_curve(s, s.overview().value()).value();
  CHECK(curve.evaluations == 6);
  CHECK(to_text(curve.by_evaluations) == "1:0.5 2:0.7 5:0.9 ");
  CHECK(to_text(curve.by_training) == "0:0.7 2:0.9 ");
  CHECK(curve.by_wall.size() == 2);
}
