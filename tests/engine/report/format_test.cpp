#include "engine/evaluation/epochs_in_time.hpp"
#include "engine/report/base/final_phase.hpp"
#include "engine/report/base/format.hpp"

#include <catch2/catch.hpp>

#include <cstdlib>

using namespace clade;

TEST_CASE("format: metrics are as long as they are worth") {
  CHECK(metric_text(0.98611) == "0.9861");
  CHECK(metric_text(0) == "0.0000");
  CHECK(metric_text(-12.5) == "-12.5000");
  CHECK(metric_text(0.00001234) == "1.234e-05");
  CHECK(metric_text(302.931) == "302.93");
  CHECK(metric_text(-1302.9331) == "-1,302.9");
  CHECK(metric_text(45357.4) == "45,357");
  CHECK(metric_text(1'234'567.8) == "1,234,568");
  CHECK(metric_text(3e15) == "3e+15");
  CHECK(metric_text(std::optional<double>()) == "-");
}

TEST_CASE("format: durations are told in their own measure") {
  CHECK(duration_text(-1) == "0.0 s");
  CHECK(duration_text(0.44) == "0.4 s");
  CHECK(duration_text(32.4) == "32 s");
  CHECK(duration_text(59.6) == "1 min 00 s");
  CHECK(duration_text(370) == "6 min 10 s");
  CHECK(duration_text(3 * 3600 + 5 * 60) == "3 h 05 min");
  CHECK(duration_text(50 * 3600) == "2 d 2 h");
}

TEST_CASE("format: sizes are told in their own measure") {
  CHECK(size_text(812) == "812 B");
  CHECK(size_text(1024) == "1.0 KiB");
  CHECK(size_text(902'400'000) == "860.6 MiB");
  CHECK(size_text(3ULL << 50) == "3072.0 TiB");
}

TEST_CASE("format: text that is too long ends in dots and never inside a character") {
  CHECK(shortened("widen", 5) == "widen");
  CHECK(shortened("widen n2", 7) == "wide...");
  CHECK(shortened("éééééééé", 8) == "éééééééé");
  CHECK(shortened("éééééééé", 7) == "éééé...");
}

TEST_CASE("format: columns are as wide as their longest entry") {
  table t({table::align::left, table::align::right, table::align::left});
  t.add({"name", "best", "why"});
  t.add({"é", "0.5", ""});
  t.add_line("and a line over all of them");
  t.add({"longer", "10.25", "so"});
  CHECK(t.to_text(2)
        == "  name     best  why\n"
           "  é         0.5\n"
           "  and a line over all of them\n"
           "  longer  10.25  so\n");
}

TEST_CASE("format: a training that the clock cut says how many epochs it had") {
  const std::string origin =
      "trained to the end, for at most 180 epochs without fold 1 of 5";
  CHECK(origin_text(origin, 180, 3) == origin);
  CHECK(origin_text(origin, 180, 0, had_room_for(1.25, 180))
        == "trained to the end, for 1.2 of 180 epochs without fold 1 of 5");
  CHECK(origin_text(origin, 180, 3, cut_by_time("after epoch 7", 180))
        == "trained to the end, for 7 of 180 epochs without fold 1 of 5");
  CHECK(origin_text("trained to the end, for 180 epochs", 180, 3,
                    cut_by_time("in epoch 1", 180))
        == "trained to the end, for 1 of 180 epochs");
  CHECK(origin_text(origin, 180, 3, "train.loss became no finite number in epoch 2")
        == origin);
  CHECK(origin_text("sampled", 6, 0, cut_by_time("in epoch 1", 6))
        == "sampled (to epoch 6)");
}

TEST_CASE("format: the final phase says what is left at the pace of what has ended") {
  const final_phase p{.trained = 6, .trainings = 15, .seconds = 66.6, .paced = 6};
  CHECK(text_with_time(p) == "final: 6 of 15 trainings, 1 min 40 s left");
  // It was resumed: two of them ended since.
  CHECK(text_with_time({.trained = 6, .trainings = 15, .seconds = 10, .paced = 2})
        == "final: 6 of 15 trainings, 45 s left");
  CHECK(text_with_time({.trained = 0, .trainings = 15, .seconds = 9})
        == "final: 0 of 15 trainings");
  CHECK(text_with_time({.trained = 0, .trainings = 15, .seconds = 9, .limit = 30})
        == "final: 0 of 15 trainings, 30 s left");
  auto late = p;
  late.limit = 20;
  CHECK(seconds_left(late) == 20);
  CHECK(text_with_time({.trained = 15, .trainings = 15, .seconds = 9, .paced = 15})
        == "final: putting the model together");
}
