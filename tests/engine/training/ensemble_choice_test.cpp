#include "engine/run/steps/final_choice.hpp"
#include "engine/training/final/ensemble_choice.hpp"
#include "engine/training/network/data_folds.hpp"
#include "tests/engine/training/on_cpu.hpp"
#include "tests/engine/training/training_data.hpp"

#include <ATen/ATen.h>
#include <catch2/catch.hpp>

#include <cmath>
#include <list>

using namespace clade;

namespace {

/// Bags that say what a test makes up, of the examples of a table.
class made_up_models {
public:
  explicit made_up_models(const training_bench& bench) : context_(bench.setup, 1) {
    context_.prepare_thread();
    REQUIRE(context_.load());
    models.emplace(context_, 1, model_gathering::clock::time_point::max(),
                   composition_purpose::final_model);
  }

  [[nodiscard]] const device_data& data() const { return context_.data(); }

  /// Says the class of each example with a logit of about `sure`, or the number with an
  /// error of about 1 / `sure`; the noise is that of `seed`.
  [[nodiscard]] at::Tensor says(double sure, std::uint64_t seed) const {
    auto random = derive(seed, purpose::synthetic, 0, 1);
    auto said = models->empty_answers();
    for (std::int64_t i = 0; i < said.size(0); ++i) {
      if (!data().task.has_classes()) {
        said[i][0] = data().targets[i][0].item<double>() + random.normal() / sure;
        continue;
      }
      for (std::int64_t c = 0; c < said.size(1); ++c)
        said[i][c] =
            random.normal() + (data().targets[i].item<std::int64_t>() == c ? sure : 0);
    }
    return data().task.has_classes() ? at::softmax(said, 1) : said;
  }

  /// Adds a model that was cross-validated, of two parameters.
  void add(const at::Tensor& said, std::uint64_t parameters = 2) {
    model_bag bag{.turns = models->no_turns(), .said = said, .cross_judged = true};
    bag.costs.parameters = parameters;
    models->bags.push_back(std::move(bag));
  }

  /// Adds network #`id` of the search, which is always right on the train part.
  void add_network(at::Tensor said, candidate_id id) {
    said.index_copy_(0, data().train, says(9, id).index_select(0, data().train));
    networks_.push_back({.id = id, .bag = id});
    models->bags.push_back({.members = {&networks_.back()},
                            .turns = models->no_turns(),
                            .said = std::move(said)});
  }

  [[nodiscard]] ensemble chosen() {
    ensemble_choice choice(context_, *models);
    auto e = choice.choose();
    REQUIRE(e);
    return std::move(*e);
  }

  /// Whether the ensemble is behind a single model that was cross-validated by more than
  /// the examples of both parts can tell.
  [[nodiscard]] bool clearly_behind(const ensemble& e, const objective& goal) const {
    const auto part = both_parts(data());
    std::vector<evaluation> singles;
    for (const auto& bag : models->bags)
      singles.push_back(
          models->measured(bag.said, bag.costs, {.least = e.how.least}, part));
    return best_ahead(models->measured(e.said, e.costs, e.how, part), singles, goal,
                      [&](std::size_t i) {
                        return models->difference_error(
                            e.said, e.how, models->bags[i].said, part, goal.metric);
                      })
        .has_value();
  }

  std::optional<model_gathering> models;

private:
  training_context context_;
  std::list<trained_member> networks_;
};

bool says_of(const made_up_models& m, const std::string& part) {
  return std::ranges::any_of(m.models->left_out, [&](const std::string& why) {
    return why.find(part) != std::string::npos;
  });
}

} // namespace

TEST_CASE("ensemble choice: of models as good as each other none is alone") {
  training_bench bench(separable_csv(80));
  for (std::uint64_t trial = 0; trial < 20; ++trial) {
    made_up_models m(bench);
    for (std::uint64_t i = 0; i < 4; ++i)
      m.add(m.says(1.5, 10 * trial + i));
    const auto e = m.chosen();
    for (std::size_t i = 0; i < 4; ++i)
      CHECK(e.share_of(i) < 0.9);
    CHECK_FALSE(m.clearly_behind(e, bench.setup.goal));
  }
}

TEST_CASE("ensemble choice: one that is clearly better is chosen") {
  const bool numbers = GENERATE(false, true);
  training_bench bench(numbers ? plane_csv(1500) : separable_csv(1500));
  if (numbers) {
    bench.setup.data.task = regression;
    bench.setup.goal = {.metric = "validation.rmse", .maximize = false};
  }
  made_up_models m(bench);
  m.add(m.says(0.5, 1));
  m.add(m.says(20, 2));
  m.add(m.says(0.5, 3));
  const auto e = m.chosen();
  CHECK(e.share_of(1) > 0.9);
  CHECK(m.models->left_out.empty());
}

TEST_CASE("ensemble choice: the luck of a network on the validation part is not enough") {
  training_bench bench(separable_csv(60));
  made_up_models m(bench);
  m.add(m.says(2.2, 1));
  m.add(m.says(2.2, 2));
  auto said = m.says(2.2, 3);
  // It is right wherever it is judged.
  said.index_copy_(0, m.data().validation,
                   m.says(9, 3).index_select(0, m.data().validation));
  m.add_network(said, 7);
  const auto e = m.chosen();
  CHECK(e.share_of(2) == 0);
  CHECK(m.data().validation.size(0) < 20);
  CHECK(says_of(m, "#7 alone: on the validation part it is ahead"));
  CHECK(says_of(m, "by less than so few examples can tell"));
}

TEST_CASE(
    "ensemble choice: a network that is clearly ahead on the validation part is in") {
  training_bench bench(separable_csv(600));
  made_up_models m(bench);
  m.add(m.says(0.5, 1));
  m.add(m.says(0.5, 2));
  m.add_network(m.says(3, 3), 7);
  m.add_network(m.says(3, 4), 8);
  const auto e = m.chosen();
  CHECK(e.share_of(2) + e.share_of(3) > 0.8);
  CHECK(says_of(m, "the ensemble of the lowest loss: on the validation part #"));
}

TEST_CASE("ensemble choice: by no objective is it clearly behind a single model") {
  training_bench bench(GENERATE(false, true) ? noise_csv(150) : separable_csv(90));
  bench.setup.goal = GENERATE(
      objective{}, objective{.metric = "validation.balanced_accuracy"},
      objective{.metric = "validation.auc"}, objective{.metric = "validation.f1"},
      objective{.metric = "validation.loss", .maximize = false},
      objective{.constraints = {{.metric = "parameters", .limit = 4}}},
      objective{.others = {{.metric = "parameters", .maximize = false}}});
  CAPTURE(to_text(bench.setup.goal));
  for (std::uint64_t trial = 0; trial < 6; ++trial) {
    made_up_models m(bench);
    for (std::uint64_t i = 0; i < 5; ++i)
      m.add(m.says(0.4 * static_cast<double>(i % 3), 10 * trial + i), 2 + i);
    CHECK_FALSE(m.clearly_behind(m.chosen(), bench.setup.goal));
  }
}

TEST_CASE("ensemble choice: what only few rare examples tell counts by the objective") {
  // Nine of ten are of one class. Both models have about the same loss; by balanced
  // accuracy one is clearly better.
  std::string csv;
  auto random = derive(5, purpose::synthetic, 0, 0);
  for (int i = 0; i < 600; ++i)
    csv += std::to_string(random.normal()) + "," + std::to_string(i % 10 == 0) + "\n";
  training_bench bench(csv);
  bench.setup.goal = {.metric = "validation.balanced_accuracy"};
  made_up_models m(bench);
  const auto rare = m.data().targets.eq(1);
  auto blind = m.models->empty_answers(), fair = m.models->empty_answers();
  blind.select(1, 0).fill_(0.9);
  blind.select(1, 1).fill_(0.1);
  fair.select(1, 1).copy_(at::where(rare, 0.55, 0.35));
  fair.select(1, 0).copy_(1 - fair.select(1, 1));
  m.add(blind);
  m.add(fair);
  const auto e = m.chosen();
  CHECK(metric_of(e.measured.metrics, "validation.balanced_accuracy") > 0.9);
}

TEST_CASE("ensemble choice: it is the same each time") {
  training_bench bench(noise_csv(100));
  const auto once = [&] {
    made_up_models m(bench);
    for (std::uint64_t i = 0; i < 6; ++i)
      m.add(m.says(0.3, i));
    const auto e = m.chosen();
    return std::pair(e.chosen, e.how.temperature);
  };
  CHECK(once() == once());
}
