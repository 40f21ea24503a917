#include "engine/search/models/fitted/front_improvement.hpp"
#include "genome/base/random.hpp"

#include <catch2/catch.hpp>
#include <rapidcheck.h>

#include <cmath>

using namespace clade;

namespace {

std::vector<objective_point> any_front(std::size_t objectives) {
  const auto one = rc::gen::container<objective_point>(
      objectives, rc::gen::map(rc::gen::inRange(0, 7), [](int v) { return 1.0 * v; }));
  return *rc::gen::container<std::vector<objective_point>>(
      *rc::gen::inRange<std::size_t>(0, 12), one);
}

double gained(const std::vector<objective_point>& front, const objective_point& one) {
  const objective_point reference(one.size(), 0);
  auto with = front;
  with.push_back(one);
  return hypervolume(with, reference) - hypervolume(front, reference);
}

std::vector<prediction> around(const objective_point& mean, double spread) {
  std::vector<prediction> p;
  for (const double m : mean)
    p.push_back({m, spread});
  return p;
}

double mean_gain(const std::vector<objective_point>& front, const objective_point& mean,
                 double spread) {
  constexpr int draws = 40'000;
  auto random = derive(1, purpose::niches, 0, 0);
  double sum = 0;
  for (int i = 0; i < draws; ++i) {
    auto at = mean;
    for (double& v : at)
      v += spread * random.normal();
    sum += gained(front, at);
  }
  return sum / draws;
}

} // namespace

TEST_CASE("front improvement: what is certain gains the hypervolume that it adds") {
  for (const std::size_t objectives : {2, 3})
    CHECK(rc::check(std::to_string(objectives) + " objectives", [&] {
      const auto front = any_front(objectives);
      auto one = any_front(objectives);
      one.push_back(objective_point(objectives, 3));
      const auto mean = one.front();
      const front_improvement expected(front, objective_point(objectives, 0));
      const double found = std::exp(expected.log_expected(around(mean, 1e-9)));
      RC_ASSERT(std::fabs(found - gained(front, mean)) < 1e-6);
    }));
}

TEST_CASE("front improvement: what is not is the mean of what it may add") {
  const std::vector<objective_point> two{{4, 1}, {2, 3}, {1, 3.5}, {2, 2}};
  const std::vector<objective_point> three{{4, 1, 2}, {2, 3, 2}, {1, 1, 4}, {3, 2, 1}};
  for (const objective_point& mean : {objective_point{3, 2}, {2, 2}, {5, 0.5}, {4, 4}}) {
    INFO(mean[0] << ", " << mean[1]);
    const front_improvement expected(two, {0, 0});
    CHECK(std::exp(expected.log_expected(around(mean, 0.8)))
          == Approx(mean_gain(two, mean, 0.8)).epsilon(0.05));
  }
  for (const objective_point& mean : {objective_point{3, 2, 2}, {2, 2, 2}, {4, 4, 4}}) {
    INFO(mean[0] << ", " << mean[1] << ", " << mean[2]);
    const front_improvement expected(three, {0, 0, 0});
    CHECK(std::exp(expected.log_expected(around(mean, 0.8)))
          == Approx(mean_gain(three, mean, 0.8)).epsilon(0.05));
  }
}

TEST_CASE("front improvement: of two without hope the nearer one promises more") {
  const front_improvement expected({{4, 4}}, {0, 0});
  const double near = expected.log_expected(around({1, 1}, 0.2)),
               far = expected.log_expected(around({0.5, 0.5}, 0.2));
  CHECK(std::isfinite(far));
  CHECK(near > far);
}
