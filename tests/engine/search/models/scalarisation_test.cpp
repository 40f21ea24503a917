#include "engine/search/models/fitted/scalarisation.hpp"
#include "engine/search/models/fitted/screening.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace clade;

namespace {

fitness weighed(double a, double b, double violation = 0) {
  return {.ok = true, .primary = a, .objectives = {a, b}, .violation = violation};
}

} // namespace

TEST_CASE("scalarisation: shares know an order and nothing else") {
  const std::vector<fitness> all{weighed(1, 1e9), weighed(3, 7), weighed(3, -5),
                                 weighed(9, 9, 0.5), fitness{}};
  CHECK(shares_of(all, 0) == std::vector<double>{0.5, 0.8, 0.8, 0.3, 0.1});
  CHECK(shares_of(all, 1) == std::vector<double>{0.9, 0.7, 0.5, 0.3, 0.1});
}

TEST_CASE("scalarisation: weights are a share each, all of them alike in the long run") {
  auto random = derive(1, purpose::niches, 0, 0);
  std::vector<double> mean(3, 0.0);
  for (int i = 0; i < 3'000; ++i) {
    const auto w = draw_weights(3, random);
    CHECK(std::accumulate(w.begin(), w.end(), 0.0) == Approx(1));
    for (std::size_t m = 0; m < 3; ++m) {
      CHECK(w[m] >= 0);
      mean[m] += w[m] / 3'000;
    }
  }
  for (const double m : mean)
    CHECK(m == Approx(1.0 / 3).epsilon(0.05));
}

TEST_CASE("scalarisation: the best for any weights is of the front, and all of it is") {
  // A front that curves inwards, which no weighted sum would find; and two behind it.
  std::vector<std::vector<double>> all;
  for (int i = 0; i <= 6; ++i)
    all.push_back({i / 6.0, (6 - i) * (6 - i) / 36.0});
  all.push_back({0.3, 0.3});
  all.push_back({0.8, 0.02});
  std::vector<bool> found(all.size());
  for (int step = 1; step < 200; ++step) {
    const std::vector weights{step / 200.0, 1 - step / 200.0};
    const auto best = std::ranges::max_element(
        all, {}, [&](const auto& shares) { return tchebycheff(shares, weights); });
    found[static_cast<std::size_t>(best - all.begin())] = true;
  }
  CHECK(std::ranges::count(found, true) == 7);
  CHECK(std::all_of(found.begin(), found.begin() + 7, [](bool f) { return f; }));
}

TEST_CASE("scalarisation: the expected improvement is the mean over what may come") {
  const std::vector weights{0.3, 0.7}, units{1.0, 0.9};
  const double best = -0.2;
  const std::vector<prediction> p{{0.5, 0.8}, {0.9, 0.4}};
  const tchebycheff_improvement improvement(best, weights, units);
  double mean = 0;
  auto random = derive(1, purpose::niches, 0, 0);
  constexpr int draws = 100'000;
  for (int i = 0; i < draws; ++i) {
    std::vector<double> shares;
    for (std::size_t m = 0; m < 2; ++m)
      shares.push_back(
          chance_above({(p[m].mean + p[m].spread * random.normal()) * units[m], 1}, 0));
    mean += std::max(tchebycheff(shares, weights) - best, 0.0) / draws;
  }
  CHECK(std::exp(improvement.log_expected(p)) == Approx(mean).epsilon(0.03));
}
