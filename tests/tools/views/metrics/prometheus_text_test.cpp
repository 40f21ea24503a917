#include "tests/tools/views/still_feed.hpp"
#include "tests/tools/views/terminal/made_up_run.hpp"
#include "tools/views/metrics/prometheus_text.hpp"

#include <catch2/catch.hpp>

#include <set>
#include <sstream>

using namespace clade;
using namespace clade::test;

namespace {

/// A line each, sorted: the library has them in the order of a hash table.
std::string samples_of(const std::string& text) {
  std::set<std::string> samples;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);)
    if (!line.starts_with('#'))
      samples.insert(line + "\n");
  std::string sorted = "\n";
  for (const auto& line : samples)
    sorted += line;
  return sorted;
}

} // namespace

TEST_CASE("metrics: the whole run in numbers") {
  const still_feed f(a_picture(), some_slots());
  CHECK(samples_of(metrics_text(f)) == R"(
clade_best_fitness{goal="maximize",metric="validation.accuracy"} 0.91
clade_candidates_total 77
clade_evaluations_total{outcome="crashed"} 1
clade_evaluations_total{outcome="diverged"} 2
clade_evaluations_total{outcome="dropped"} 0
clade_evaluations_total{outcome="invalid"} 0
clade_evaluations_total{outcome="out of memory"} 0
clade_evaluations_total{outcome="succeeded"} 72
clade_evaluations_total{outcome="timed out"} 0
clade_failed_total 3
clade_generation 3
clade_generation_fitness{goal="maximize",metric="validation.accuracy",statistic="best"} 0.91
clade_generation_fitness{goal="maximize",metric="validation.accuracy",statistic="lower"} 0.66
clade_generation_fitness{goal="maximize",metric="validation.accuracy",statistic="median"} 0.8100000000000001
clade_generation_fitness{goal="maximize",metric="validation.accuracy",statistic="upper"} 0.87
clade_last_record_timestamp_seconds 75
clade_open_candidates 2
clade_planned_candidates 240
clade_records_total 158
clade_run{name="digits",showing="live",state="running",version="0.1.0"} 1
clade_slot_failures_total{slot="node3/cuda:1"} 3
clade_slots{state="away"} 1
clade_slots{state="busy"} 1
clade_slots{state="idle"} 1
clade_slots{state="quarantined"} 1
clade_slots{state="starting"} 0
clade_training_seconds_total 187.5
clade_waiting_candidates 5
)");
}

TEST_CASE("metrics: of several objectives the front and its hypervolume are there") {
  auto p = a_picture();
  p.generations.back().summary.front.members = 7;
  p.generations.back().summary.front.hypervolume = 1.25;
  CHECK_THAT(metrics_text(still_feed(p)), !Catch::Contains("clade_hypervolume"));
  p.rules.objective.others = {{"parameters", false}};
  const auto text = metrics_text(still_feed(p));
  CHECK_THAT(text, Catch::Contains("\nclade_front_candidates 7\n"));
  CHECK_THAT(text, Catch::Contains("\nclade_hypervolume 1.25\n"));
  p.generations.back().summary.front.members = 0;
  CHECK_THAT(metrics_text(still_feed(p)), !Catch::Contains("clade_hypervolume"));
}

TEST_CASE("metrics: what there is none of is left out, and counters are there at zero") {
  const auto text = metrics_text(still_feed(run_picture{}));
  CHECK_THAT(text, !Catch::Contains("clade_best_fitness"));
  CHECK_THAT(text, !Catch::Contains("clade_generation_fitness"));
  CHECK_THAT(text, !Catch::Contains("clade_last_record"));
  CHECK_THAT(text, Catch::Contains("\nclade_evaluations_total{outcome=\"crashed\"} 0\n"));
  CHECK_THAT(text, Catch::Contains("\nclade_slots{state=\"busy\"} 0\n"));
}

TEST_CASE("metrics: a name with quotes and lines is escaped") {
  still_feed f{run_picture{}};
  f.named = "a \"b\"\nc\\d";
  CHECK_THAT(metrics_text(f), Catch::Contains("name=\"a \\\"b\\\"\\nc\\\\d\""));
}
