#include "engine/training/baselines/boosted_trees.hpp"
#include "engine/training/baselines/booster.hpp"
#include "engine/training/network/data_folds.hpp"
#include "engine/training/network/network_module.hpp"
#include "tests/engine/training/on_cpu.hpp"
#include "tests/engine/training/training_data.hpp"

#include <ATen/ATen.h>
#include <catch2/catch.hpp>

#include <algorithm>
#include <functional>
#include <numeric>

using namespace clade;

namespace {

using steady_clock = std::chrono::steady_clock;

struct a_table {
  explicit a_table(const std::string& csv, learning_task task = classification)
      : bench(csv) {
    bench.setup.data.task = task;
    loaded = load_data(bench.setup.data, 1).value();
    data = on_cpu(loaded);
  }

  training_bench bench;
  data_set loaded;
  device_data data;
};

at::Tensor said_by(const fitted_trees& f, const device_data& data,
                   const at::Tensor& part) {
  const problem p{{{data.features.size(1)}}, data.task.outputs(data.classes.size())};
  network_module net(tree_network(p, f.sizes), {}, at::kCPU);
  const auto loaded = net.load(f.weights);
  INFO((loaded ? "" : loaded.error().message));
  REQUIRE(loaded);
  net.eval();
  return net.forward(data.features.rows(part));
}

double accuracy(const at::Tensor& said, const device_data& data, const at::Tensor& part) {
  return said.argmax(1)
      .eq(data.targets.index_select(0, part))
      .to(at::kDouble)
      .mean()
      .item<double>();
}

/// Returns the loss that the operator has for a validation part, as XGBoost measures it.
double loss_of_operator(const fitted_trees& f, const device_data& data) {
  const auto said = said_by(f, data, data.validation).to(at::kDouble);
  const auto targets = data.targets.index_select(0, data.validation);
  if (!data.task.has_classes())
    return (said - targets).square().mean().sqrt().item<double>();
  return -at::log_softmax(said, 1).gather(1, targets.unsqueeze(1)).mean().item<double>();
}

std::span<const float> values(const at::Tensor& t) {
  return {t.const_data_ptr<float>(), static_cast<std::size_t>(t.numel())};
}

/// Returns what XGBoost's trees say of examples: forests of the settings that are about as good
/// as the best, of the slowest rate that pays. Written anew here, to hold the fit to it.
struct grown_trees {
  std::vector<boosting_params> settings;
  std::vector<double> losses;

  [[nodiscard]] double mean() const {
    return std::accumulate(losses.begin(), losses.end(), 0.0)
           / static_cast<double>(losses.size());
  }
};

grown_trees expected_trees(std::span<const boosting_params> settings,
                           const std::function<double(const boosting_params&)>& loss_of) {
  std::vector<std::pair<double, boosting_params>> all;
  for (const auto& p : settings)
    all.emplace_back(loss_of(p), p);
  std::ranges::stable_sort(all, {}, [](const auto& one) { return one.first; });
  grown_trees best;
  for (const auto& [loss, p] : all)
    if (loss <= 1.0075 * all.front().first) {
      best.settings.push_back(p);
      best.losses.push_back(loss);
    }
  while (best.settings.front().learning_rate > 0.04) {
    grown_trees slower;
    for (auto p : best.settings) {
      p.learning_rate /= 2;
      p.rounds *= 2;
      p.patience *= 2;
      slower.losses.push_back(loss_of(p));
      slower.settings.push_back(p);
    }
    if (slower.mean() > 0.998 * best.mean())
      break;
    best = slower;
  }
  return best;
}

void check_against_xgboost(const a_table& table) {
  auto data = table.data;
  // One example at a time, so that the loss says what is said of it; those of the train part
  // are on the same side of thresholds, which lie between them.
  for (std::int64_t row = 0; row < 2; ++row) {
    data.validation = table.data.train.narrow(0, row, 1);
    const auto features = data.features.rows(data.train);
    const auto targets =
        data.targets.index_select(0, data.train).to(at::kFloat).flatten();
    const auto seen = data.features.rows(data.validation);
    const auto target =
        data.targets.index_select(0, data.validation).to(at::kFloat).flatten();
    const auto fitted = fit_boosted_trees(data, {.seed = 3});
    INFO((fitted ? "" : fitted.error().message));
    REQUIRE(fitted);
    const auto grown = expected_trees(boosting_settings(data), [&](auto same) {
      same.classes = data.task.has_classes() ? std::ssize(data.classes) : 0;
      same.seed = derive(3, purpose::baseline, 0, 1).next();
      const auto one = boost(same, {values(features), values(targets)},
                             {values(seen), values(target)});
      REQUIRE(one);
      return one->loss;
    });
    // The loss of one forest is known; the mean of several says the mean of what they say, and
    // losses are convex.
    const double loss = loss_of_operator(fitted->whole, data);
    if (grown.losses.size() == 1)
      CHECK(loss == Approx(grown.losses.front()).margin(1e-4));
    else
      CHECK(loss <= grown.mean() + 1e-4);
  }
}

} // namespace

TEST_CASE("boosted trees: the operator says what XGBoost says") {
  SECTION("of two classes") {
    check_against_xgboost(a_table(noise_csv(300)));
  }
  SECTION("of three classes") {
    check_against_xgboost(a_table(separable_csv(90)));
  }
  SECTION("of numbers") {
    check_against_xgboost(a_table(plane_csv(200), regression));
  }
}

TEST_CASE("boosted trees: they find what two columns say together") {
  const a_table table(chequered_csv(800));
  for (const std::uint32_t folds : {1, 3}) {
    const auto fitted = fit_boosted_trees(table.data, {.folds = folds, .seed = 1});
    REQUIRE(fitted);
    CHECK(fitted->folds.size() == folds);
    CHECK(accuracy(said_by(fitted->whole, table.data, table.data.test), table.data,
                   table.data.test)
          > 0.95);
  }
}

TEST_CASE("boosted trees: the whole says the mean of what the folds say") {
  const a_table table(separable_csv(120));
  const auto fitted = fit_boosted_trees(table.data, {.folds = 3, .seed = 1});
  REQUIRE(fitted);
  at::Tensor sum;
  for (const auto& f : fitted->folds) {
    const auto said = said_by(f, table.data, table.data.test);
    sum = sum.defined() ? sum + said : said;
  }
  CHECK(at::allclose(said_by(fitted->whole, table.data, table.data.test), sum / 3, 1e-5,
                     1e-5));
}

TEST_CASE("boosted trees: what is taken is not behind the first setting in any number of "
          "folds") {
  const a_table table(plane_csv(300), regression);
  for (const std::uint32_t folds : {1, 3}) {
    const auto fitted = fit_boosted_trees(table.data, {.folds = folds, .seed = 1});
    REQUIRE(fitted);
    double taken = 0, first = 0;
    for (std::uint32_t i = 0; i < folds; ++i) {
      const auto fold = data_of_fold(table.data, {i, folds}, 1);
      taken += loss_of_operator(fitted->folds[i], fold);
      auto p = boosting_settings(table.data).front();
      p.seed = derive(1, purpose::baseline, i, folds).next();
      const auto rows = [&](const at::Tensor& part) { return fold.features.rows(part); };
      const auto targets = [&](const at::Tensor& part) {
        return fold.targets.index_select(0, part).to(at::kFloat).flatten();
      };
      const auto seen = rows(fold.train), unseen = rows(fold.validation);
      const auto of_seen = targets(fold.train), of_unseen = targets(fold.validation);
      const auto grown =
          boost(p, {values(seen), values(of_seen)}, {values(unseen), values(of_unseen)});
      REQUIRE(grown);
      first += grown->loss;
    }
    CHECK(taken < first + 1e-4);
  }
}

TEST_CASE("boosted trees: quick ones are of the first setting") {
  const a_table table(plane_csv(300), regression);
  const auto quick =
      fit_boosted_trees(table.data, {.folds = 3, .seed = 1, .quick = true});
  REQUIRE(quick);
  CHECK(quick->folds.size() == 3);
  CHECK(quick->whole.sizes.depth == boosting_settings(table.data).front().depth);
  const auto slow = fit_boosted_trees(table.data, {.folds = 3, .seed = 1});
  REQUIRE(slow);
  CHECK(quick->whole.sizes.trees < slow->whole.sizes.trees);
}

TEST_CASE("boosted trees: two threads fit the same trees as one") {
  const a_table table(noise_csv(300));
  const auto one = fit_boosted_trees(table.data, {.folds = 3, .seed = 1});
  const auto two = fit_boosted_trees(table.data, {.folds = 3, .seed = 1, .threads = 2});
  REQUIRE(one);
  REQUIRE(two);
  CHECK((one->whole.weights == two->whole.weights));
}

TEST_CASE("boosted trees: the same seed gives the same bits, another one others") {
  const a_table table(noise_csv(300));
  const auto weights = [&](std::uint64_t seed) {
    const auto fitted = fit_boosted_trees(table.data, {.folds = 2, .seed = seed});
    REQUIRE(fitted);
    return fitted->whole.weights;
  };
  CHECK((weights(1) == weights(1)));
  CHECK((weights(1) != weights(2)));
}

TEST_CASE("boosted trees: class weights count") {
  a_table table(noise_csv(400));
  const auto of_second = [&] {
    const auto fitted = fit_boosted_trees(table.data, {.seed = 1});
    REQUIRE(fitted);
    return said_by(fitted->whole, table.data, table.data.test)
        .argmax(1)
        .sum()
        .item<std::int64_t>();
  };
  table.data.class_weights = at::tensor({20.0F, 1.0F});
  const auto few = of_second();
  table.data.class_weights = at::tensor({1.0F, 20.0F});
  CHECK(few < of_second());
}

TEST_CASE("boosted trees: out of time is an error") {
  const a_table table(separable_csv(60));
  const auto fitted = fit_boosted_trees(
      table.data, {.deadline = steady_clock::now() - std::chrono::hours(1)});
  REQUIRE_FALSE(fitted);
  CHECK(fitted.error().message == "the boosted trees were not fitted within their time");
}

TEST_CASE("booster: a deadline leaves the rounds there was time for") {
  const std::vector<float> features{0, 1, 2, 3}, targets{-1, -1, 1, 1};
  boosting_params p{.depth = 1, .example_share = 1, .feature_share = 1};
  p.deadline = steady_clock::now() - std::chrono::hours(1);
  const auto cut = boost(p, {features, targets}, {features, targets});
  REQUIRE(cut);
  CHECK(cut->cut);
  CHECK(cut->rounds == 1);
  CHECK(cut->leaves.size() == 2);
  CHECK(cut->leaves[0] < 0);
  CHECK(cut->leaves[1] > 0);
}

TEST_CASE("booster: what XGBoost refuses is an error that says why") {
  const std::vector<float> features{0, std::numeric_limits<float>::infinity()},
      targets{0, 1};
  const auto refused = boost({}, {features, targets}, {features, targets});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message.starts_with("XGBoost: "));
}
