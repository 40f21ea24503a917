#include "engine/training/metrics/wrong_examples.hpp"

#include <catch2/catch.hpp>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>

using namespace clade;

TEST_CASE("wrong examples: the least probable truth comes first") {
  const std::vector<std::string> names{"ant", "bee"};
  const std::vector<std::int64_t> labels{0, 0, 1, 1};
  const auto l3 = static_cast<float>(std::log(3.0)),
             l9 = static_cast<float>(std::log(9.0));
  const std::vector<float> scores{0, l3, 5, 0, l9, 0, 0, 5};
  const std::vector<std::uint64_t> places{2, 3, 5, 8};
  const auto found = most_wrong(class_predictions{2, labels, scores, names}, places);
  REQUIRE(found.size() == 2);
  CHECK(found[0].place == 5);
  CHECK(found[0].actual == "bee");
  CHECK(found[0].predicted == "ant");
  CHECK(found[0].actual_probability == Approx(0.1));
  CHECK(found[0].predicted_probability == Approx(0.9));
  CHECK(found[1].place == 2);
  CHECK(found[1].actual_probability == Approx(0.25));
}

TEST_CASE("wrong examples: scores that are far apart make probabilities of 0 and 1") {
  const std::vector<std::string> names{"ant", "bee"};
  const std::vector<std::int64_t> labels{1};
  const std::vector<float> scores{3e38F, -3e38F};
  const std::vector<std::uint64_t> places{7};
  const auto found = most_wrong(class_predictions{2, labels, scores, names}, places);
  CHECK(found == std::vector<misclassified>{{7, "bee", "ant", 0, 1}});
}

TEST_CASE("wrong examples: of numbers they are the largest distances, each once") {
  REQUIRE(rc::check("against a sort of all", [] {
    const auto actual = *rc::gen::container<std::vector<double>>(
        rc::gen::map(rc::gen::inRange(-9, 9), [](int v) { return v * 1.0; }));
    std::vector<double> predicted;
    std::vector<std::uint64_t> places;
    std::vector<double> distances;
    for (std::size_t i = 0; i < actual.size(); ++i) {
      predicted.push_back(*rc::gen::inRange(-9, 9));
      places.push_back(100 + i);
      if (predicted[i] != actual[i])
        distances.push_back(std::abs(predicted[i] - actual[i]));
    }
    std::ranges::sort(distances, std::greater());
    const value_predictions all{actual, predicted};
    const auto found = most_wrong(all, places, all);
    RC_ASSERT(found.size() == std::min<std::size_t>(10, distances.size()));
    for (std::size_t i = 0; i < found.size(); ++i) {
      const auto at = found[i].place - 100;
      RC_ASSERT(found[i].actual == actual[at]);
      RC_ASSERT(found[i].predicted == predicted[at]);
      RC_ASSERT(std::abs(actual[at] - predicted[at]) == distances[i]);
      if (i > 0 && distances[i - 1] == distances[i])
        RC_ASSERT(found[i - 1].place < found[i].place);
    }
  }));
}
