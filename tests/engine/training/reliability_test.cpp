#include "engine/training/metrics/importance_intervals.hpp"
#include "engine/training/metrics/reliability.hpp"

#include <catch2/catch.hpp>
#include <rapidcheck.h>

#include <array>
#include <cmath>

using namespace clade;

namespace {

/// The score of the first of two classes by which it has a probability.
float score_of(double probability) {
  return static_cast<float>(std::log(probability / (1 - probability)));
}

} // namespace

TEST_CASE("reliability: examples are gathered by how sure the model is of them") {
  // It says the first class with .9 four times, of which three are right, and with .6
  // once, which is wrong.
  const std::vector<float> scores{score_of(0.9), 0, score_of(0.9), 0, score_of(0.6), 0,
                                  score_of(0.9), 0, score_of(0.9), 0};
  const std::vector<std::int64_t> labels{0, 0, 1, 1, 0};
  const auto r = reliability_of({2, labels, scores});
  REQUIRE(r.bins.size() == 2);
  CHECK(r.bins[0].examples == 1);
  CHECK(r.bins[0].said == Approx(0.6));
  CHECK(r.bins[0].right == 0);
  CHECK(r.bins[1].examples == 4);
  CHECK(r.bins[1].said == Approx(0.9));
  CHECK(r.bins[1].right == 0.75);
  CHECK(r.error == Approx((0.6 + 4 * 0.15) / 5));
}

TEST_CASE("reliability: a model that is sure and right has no error") {
  const std::vector<float> scores{100, 0, 0, 100};
  const std::vector<std::int64_t> right{0, 1}, wrong{1, 0};
  CHECK(reliability_of({2, right, scores}).error == Approx(0).margin(1e-9));
  CHECK(reliability_of({2, wrong, scores}).error == Approx(1));
  CHECK(reliability_of({2, {}, {}}).bins.empty());
}

TEST_CASE("reliability: bins hold all examples and the error is a share") {
  rc::check([] {
    const auto classes = *rc::gen::inRange<std::size_t>(1, 6);
    const auto examples = *rc::gen::inRange<std::size_t>(0, 40);
    std::vector<std::int64_t> labels;
    std::vector<float> scores;
    for (std::size_t i = 0; i < examples; ++i) {
      labels.push_back(
          *rc::gen::inRange<std::int64_t>(0, static_cast<std::int64_t>(classes)));
      for (std::size_t c = 0; c < classes; ++c)
        scores.push_back(static_cast<float>(*rc::gen::inRange(-200, 200)));
    }
    const auto r = reliability_of({classes, labels, scores});
    std::uint64_t all = 0;
    double before = 0;
    for (const auto& b : r.bins) {
      RC_ASSERT(b.examples > 0);
      RC_ASSERT(b.said >= before && b.said <= 1);
      RC_ASSERT(b.right >= 0 && b.right <= 1);
      before = b.said;
      all += b.examples;
    }
    RC_ASSERT(all == examples);
    RC_ASSERT(r.error >= 0 && r.error <= 1);
  });
}

TEST_CASE("importance: a mean has the interval of Student's t") {
  // statistics.stdev([1, 2, 4]) / sqrt(3) = 0.8819, times 4.303
  const auto one = mean_importance("age", std::array{1.0, 2.0, 4.0});
  CHECK(one.column == "age");
  CHECK(one.worse == Approx(7.0 / 3));
  CHECK(one.low == Approx(7.0 / 3 - 3.795).epsilon(1e-3));
  CHECK(one.high == Approx(7.0 / 3 + 3.795).epsilon(1e-3));
  const auto same = mean_importance("", std::array{0.5, 0.5});
  CHECK(same.low == 0.5);
  CHECK(same.high == 0.5);
}
