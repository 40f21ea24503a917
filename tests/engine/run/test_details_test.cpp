#include "engine/run/records/record_fields.hpp"
#include "engine/run/records/test_details.hpp"

#include <catch2/catch.hpp>

#include <numeric>

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
        with_evidence(of_values()), with_all(of_classes()), alone}) {
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
