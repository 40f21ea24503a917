#include "engine/data/numbers/robust_scale.hpp"
#include "engine/data/profile/data_summary.hpp"
#include "engine/data/reading/preprocessing.hpp"
#include "tests/engine/data/files.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <random>

using namespace clade;

namespace {

std::vector<double> draws(std::size_t count, auto distribution) {
  std::mt19937_64 random(1);
  std::vector<double> all;
  for (std::size_t i = 0; i < count; ++i)
    all.push_back(distribution(random));
  return all;
}

/// Rows of a column with an outlier in the first one, and of one without.
std::string with_outlier(const std::string& outlier) {
  std::string text = "income,age,y\n";
  for (int i = 0; i < 60; ++i)
    text += (i == 0 ? outlier : std::to_string(40 + i * 7 % 20)) + ","
            + std::to_string(20 + i * 11 % 50) + "," + (i % 3 == 0 ? "yes" : "no") + "\n";
  return text;
}

} // namespace

TEST_CASE("robust scale: one gross outlier or a few call for it") {
  auto numbers = draws(500, std::normal_distribution<>(50, 10));
  for (int outliers = 1; outliers <= 5; ++outliers) {
    numbers.push_back(outliers % 2 == 0 ? 1e9 : -1e9);
    const auto scale = find_robust_scale(numbers);
    REQUIRE(scale);
    CHECK(scale->median == Approx(50).margin(2));
    CHECK(scale->deviation == Approx(10).margin(1));
  }
  numbers.insert(numbers.end(), 20, 1e9);
  CHECK_FALSE(find_robust_scale(numbers)); // They are no few any more.
}

TEST_CASE("robust scale: columns that people have keep their deviation") {
  CHECK_FALSE(find_robust_scale(draws(2000, std::normal_distribution<>(5, 2))));
  CHECK_FALSE(find_robust_scale(draws(2000, std::uniform_real_distribution<>(-1, 1))));
  CHECK_FALSE(find_robust_scale(draws(2000, std::exponential_distribution<>(3))));
  CHECK_FALSE(find_robust_scale(draws(2000, std::lognormal_distribution<>(8, 1))));
  CHECK_FALSE(find_robust_scale(draws(2000, std::poisson_distribution<>(0.2))));
  auto far = draws(2000, std::normal_distribution<>(5, 2));
  far.push_back(40); // Far, and no more than that.
  CHECK_FALSE(find_robust_scale(far));
  auto mostly_zero = std::vector<double>(900, 0);
  mostly_zero.resize(1000, 99'999);
  CHECK_FALSE(find_robust_scale(mostly_zero));
  CHECK_FALSE(find_robust_scale({1, 2, 3, 1e9}));
  CHECK_FALSE(find_robust_scale({}));
}

TEST_CASE("data: an outlier leaves its column's other values apart, and is cut off") {
  const scratch_folder folder;
  data_params params{.file = write(folder, "x.csv", with_outlier("1e9"))};
  // All are in one part but for a few, the outlier among them or not.
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    const auto data = load_data(params, seed).value();
    const bool trained = std::ranges::find(data.train, 0U) != data.train.end();
    CHECK(data.robust
          == (trained ? std::vector<std::string>{"income"} : std::vector<std::string>()));
    CHECK(scale_note(data).empty() == !trained);
    if (!trained)
      continue;
    CHECK(data.features[0] == 10);
    std::vector<float> others;
    for (std::size_t i = 1; i < 60; ++i)
      others.push_back(data.features[2 * i]);
    const auto [low, high] = std::ranges::minmax(others);
    CHECK(high - low > 1.5F);
    const auto how = fit_preprocessing(params, seed).value();
    REQUIRE(how.limit.size() == 2);
    CHECK(how.limit[0] == 10);
    CHECK(std::isinf(how.limit[1]));
    const auto again = prepare(
        {.origin = "x", .count = 1, .values = std::vector<float>{-1e9F, 30}, .lines = {}},
        how);
    REQUIRE(again);
    CHECK((*again)[0] == -10);
    params.scale = scale_rule::deviation;
    const auto as_before = load_data(params, seed).value();
    CHECK(as_before.robust.empty());
    CHECK(as_before.features[0] > 5);
    CHECK(as_before.features[3] == data.features[3]); // A column without outliers.
    CHECK(as_before.features[2] == Approx(as_before.features[4]).margin(1e-5));
    params.scale = scale_rule::automatic;
  }
}
