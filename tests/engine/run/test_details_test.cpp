#include "engine/run/records/record_fields.hpp"
#include "engine/run/records/test_details.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

using namespace clade;

namespace {

test_details of_classes() {
  return {.train = 60,
          .validation = 20,
          .test = 3,
          .metrics = {{"test.accuracy", 0.75}, {"test.auc", 0.5}},
          .standard_error = 0.125,
          .classes = {"a", "b"},
          .confusion = {1, 0, 1, 1}};
}

test_details of_values() {
  return {.train = 60,
          .validation = 20,
          .test = 2,
          .metrics = {{"test.rmse", 1.5}},
          .pairs = {{1, 2.5}, {3, 1.5}},
          .validation_errors = {3, {0.25, 0.5, 4}}};
}

test_details with_evidence(test_details details) {
  details.evidence = test_evidence{
      .interval = metric_interval{"test.accuracy", 0.5, 0.875, 1000}, .by_line = true};
  if (details.classes.empty())
    details.evidence->values = {{7, 1, 2.5}};
  else
    details.evidence->classes = {{7, "a", "b", 0.125, 0.75}, {2, "b", "a", 0.25, 0.75}};
  return details;
}

test_details with_all(test_details details) {
  details = with_evidence(std::move(details));
  details.reliability = reliability{.bins = {{2, 0.625, 0.5}, {1, 1, 1}}, .error = 0.125};
  details.columns = column_importances{
      "validation.accuracy", 20, 10, {{"age", 0.25, 0.125, 0.375}, {"2", 0, 0, 0}}};
  return details;
}

test_details of_forecasts() {
  auto details = with_evidence(of_values());
  details.validation_errors.ahead = {{2, 2, {0.25, 0.5}}, {4, 1, {4}}};
  details.forecasts = {{{"north", "tea"},
                        "2024-01",
                        "2024-03",
                        "2024-05",
                        {1, {}, 3},
                        {{1, 4, 4.5}, {2, 5, 4}},
                        10}};
  return details;
}

run_finished an_end(std::shared_ptr<const test_details> details) {
  return {.champion = 9,
          .examinations = {{"champion", 9, {{"test.accuracy", 0.5}}, 77, details},
                           {"linear model", 0, {}, 1}}};
}

expected<record> decoded(const test_details& details) {
  return decode_record(encode(an_end(std::make_shared<const test_details>(details))));
}

} // namespace

TEST_CASE("test details: they are in the record of a run's end") {
  auto alone = of_classes();
  alone.columns = with_all(of_values()).columns;
  for (const auto& details :
       {of_classes(), of_values(), with_evidence(of_classes()),
        with_evidence(of_values()), with_all(of_classes()), alone, of_forecasts()}) {
    const auto again = decoded(details);
    INFO((again ? "" : again.error().message));
    REQUIRE(again);
    const auto& tests = std::get<run_finished>(*again).examinations;
    REQUIRE(tests.size() == 2);
    REQUIRE(tests[0].details);
    CHECK(*tests[0].details == details);
    CHECK_FALSE(tests[1].details);
  }
}

TEST_CASE("test details: they decide nothing") {
  const auto with = an_end(std::make_shared<const test_details>(of_classes()));
  CHECK(encode(with) != encode(an_end({})));
  CHECK(decisive_bytes(with) == decisive_bytes(an_end({})));
  // The record is as it was written before there were any.
  CHECK(decisive_bytes(with) == encode(an_end({})));
}

TEST_CASE("test details: those of before there was evidence are read as they were") {
  // [[60, 20, 2], [], 0.0, [], [], [], [0, []]]
  const char written[] =
      "\x97\x93\x3c\x14\x02\x90\xcb\0\0\0\0\0\0\0\0\x90\x90\x90\x92\0\x90";
  const bytes before(written, sizeof written - 1);
  const test_details old{.train = 60, .validation = 20, .test = 2};
  encoder out;
  write_field(out, old);
  CHECK(out.take() == before);
  decoder d(before);
  CHECK(read_as<test_details>(d) == old);
  CHECK(d.finish());
}

TEST_CASE("test details: evidence that cannot be is an error") {
  auto backwards = with_evidence(of_classes());
  backwards.evidence->interval->low = 0.9;
  CHECK(decoded(backwards).error().message
        == "the interval of a test ends before it begins");
  auto unlikely = with_evidence(of_classes());
  unlikely.evidence->classes[1].actual_probability = 1.5;
  CHECK(decoded(unlikely).error().message == "a probability of a test is not in [0, 1]");
  auto endless = with_evidence(of_values());
  endless.evidence->values[0].predicted = std::numeric_limits<double>::infinity();
  CHECK(decoded(endless).error().message == "a number of a test is not finite");
}

TEST_CASE("test details: shares and importances that cannot be are an error") {
  auto much = with_all(of_classes());
  much.reliability->bins[0].right = 1.5;
  CHECK(decoded(much).error().message
        == "a share of the reliability of a test is not in [0, 1]");
  auto wrong = with_all(of_classes());
  wrong.reliability->error = -0.5;
  CHECK(decoded(wrong).error().message == "a calibration error is not in [0, 1]");
  auto outside = with_all(of_classes());
  outside.columns->columns[0].low = 0.3;
  CHECK(decoded(outside).error().message
        == "the importance of a column is not in its interval");
}

TEST_CASE("test details: a map of an image comes back, and one that cannot be is none") {
  auto details = with_evidence(of_classes());
  details.evidence->classes[0].occlusion = {0.25, -0.125, 0, 0.5};
  const auto again = decoded(details);
  REQUIRE(again);
  CHECK(*std::get<run_finished>(*again).examinations[0].details == details);
  details.evidence->classes[0].occlusion->at(1) = 1.5;
  CHECK(decoded(details).error().message == "the map of an image is none");
  details.evidence->classes[0].occlusion->assign(misclassified::most_cells + 1, 0);
  CHECK(decoded(details).error().message == "the map of an image is none");
}

TEST_CASE("test details: forecasts that cannot be are an error") {
  auto backwards = of_forecasts();
  std::swap(backwards.validation_errors.ahead->front().last,
            backwards.validation_errors.ahead->back().last);
  CHECK(decoded(backwards).error().message == "the steps of a forecast are not in order");
  auto falling = of_forecasts();
  falling.validation_errors.ahead->front().values = {0.5, 0.25};
  CHECK(decoded(falling).error().message == "the errors of a test are not in order");
  auto endless = of_forecasts();
  endless.forecasts->front().past[0] = std::numeric_limits<double>::infinity();
  CHECK(decoded(endless).error().message == "a number of a test is not finite");
  auto wild = of_forecasts();
  wild.forecasts->front().steps[0].actual = std::numeric_limits<double>::quiet_NaN();
  CHECK(decoded(wild).error().message == "a number of a test is not finite");
}

TEST_CASE("test details: an interval is as wide as forecasts that far ahead were off") {
  std::vector<double> errors;
  std::vector<std::uint32_t> ahead;
  // Steps 1 to 3 are off by up to 1, 10 and 100; step 4 has few examples.
  for (int i = 1; i <= 150; ++i)
    for (std::uint32_t step = 1; step <= (i <= 20 ? 4 : 3); ++step) {
      errors.push_back(std::pow(10.0, std::min(step, 3U) - 1) * i / 150);
      ahead.push_back(step);
    }
  const auto all = error_quantiles::of(errors, ahead);
  CHECK(all.examples == errors.size());
  REQUIRE(all.ahead);
  REQUIRE(all.ahead->size() == 3);
  CHECK(all.ahead->at(0).examples == 150);
  CHECK(all.ahead->at(2).last == 4);
  CHECK(all.ahead->at(2).examples == 170);
  CHECK(*all.reach(0.9, 1) == Approx(0.9).epsilon(0.05));
  CHECK(*all.reach(0.9, 2) == Approx(9).epsilon(0.05));
  CHECK(*all.reach(0.9, 4) == all.reach(0.9, 3));
  // Steps beyond all others have the width of all, and so has what is no forecast.
  CHECK(all.reach(0.9, 5) == all.reach(0.9));
  CHECK(all.reach(0.9) == error_quantiles::of(errors).reach(0.9));
  // Too few of one step for so high a level, and not of all.
  CHECK(all.reach(0.995, 1) == all.reach(0.995));
  CHECK_FALSE(all.reach(0.9999, 1));
  CHECK_FALSE(error_quantiles::of({errors[0]}, std::vector<std::uint32_t>{1}).ahead);
}

TEST_CASE("test details: each of several targets has errors of its own") {
  const std::vector<double> errors{1, 30, 3, 10, 2, 20};
  const auto all = error_quantiles::of_targets(errors, 2);
  CHECK(all.known());
  CHECK(all.values.empty());
  CHECK_FALSE(all.reach(0.5));
  CHECK(all.reach_of_target(0.5, 0) == 2);
  CHECK(all.reach_of_target(0.75, 1) == 30);
  CHECK_FALSE(all.reach_of_target(0.9, 1));
  auto details = of_values();
  details.validation_errors = all;
  const auto again = decoded(details);
  REQUIRE(again);
  const auto& tests = std::get<run_finished>(*again).examinations;
  CHECK(tests.front().details->validation_errors == all);
  details.validation_errors.targets->back().values = {3, 1, 2};
  CHECK(decoded(details).error().message == "the errors of a test are not in order");
}

TEST_CASE("test details: what does not fit together is an error") {
  auto counts = of_classes();
  counts.confusion.pop_back();
  CHECK(decoded(counts).error().message == "a confusion of 2 classes has 3 counts");
  auto errors = of_values();
  errors.validation_errors.values = {0.5, 0.25, 4};
  CHECK(decoded(errors).error().message == "the errors of a test are not in order");
  errors.validation_errors = {2, {0.25, 0.5, 4}};
  CHECK(decoded(errors).error().message == "the errors of a test are not in order");
  auto pairs = of_values();
  pairs.pairs[0].predicted = std::numeric_limits<double>::infinity();
  CHECK(decoded(pairs).error().message == "a number of a test is not finite");
}

TEST_CASE("test details: of many errors evenly spread ranks are kept, the largest too") {
  CHECK(error_quantiles::of({3, 1, 2}) == error_quantiles{3, {1, 2, 3}});
  CHECK(error_quantiles::of({}) == error_quantiles{});
  std::vector<double> many(1250);
  std::iota(many.rbegin(), many.rend(), 1);
  const auto kept = error_quantiles::of(many);
  CHECK(kept.examples == 1250);
  REQUIRE(kept.values.size() == 500);
  // Ranks 2.5, 5, 7.5 rounded up.
  CHECK(kept.values[0] == 3);
  CHECK(kept.values[1] == 5);
  CHECK(kept.values[2] == 8);
  CHECK(kept.values.back() == 1250);
}
