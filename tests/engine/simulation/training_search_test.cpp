#include "engine/simulation/training_search.hpp"
#include "tests/support/small_space.hpp"

#include <catch2/catch.hpp>

#include <cmath>

using namespace clade;

namespace {

/// A training takes a second an epoch; the fitness is by the learning rate.
struct world {
  double clock = 0;
  std::uint32_t longest = 9;
  std::vector<job> trained;
  std::vector<candidate_id> examined;
  evaluating by{
      .evaluate =
          [this](job j) {
            const auto epochs = j.budget.epochs == 0 ? longest : j.budget.epochs;
            clock += epochs - j.start_epoch;
            evaluated_job done;
            const auto rate =
                std::get<double>(*find(j.genome.hyperparameters, "learning_rate"));
            const double worth = 1 - std::abs(std::log10(rate) + 2) / 4;
            done.evaluation.metrics = {{"validation.accuracy", worth * epochs / longest},
                                       {"validation.loss", 1 - worth}};
            if (fails(j.id)) {
              done.evaluation.outcome = outcome::diverged;
              done.evaluation.metrics.clear();
            }
            done.weights = bytes{static_cast<char>(j.id)};
            if (j.keep_checkpoint != checkpointing::none)
              done.checkpoint = bytes{static_cast<char>(j.id)};
            trained.push_back(std::move(j));
            return done;
          },
      .examine = [this](job j, const bytes& weights) -> expected<examination> {
        CHECK(weights == bytes{static_cast<char>(j.id)});
        examined.push_back(j.id);
        return examination{
            .subject = "", .id = j.id, .metrics = {{"test.accuracy", 0.5}}};
      },
      .processor_seconds = [this] { return clock; }};
  std::function<bool(candidate_id)> fails = [](candidate_id) { return false; };
};

training_search_params searching(const std::string& strategy, double seconds) {
  return {.rules = {.evolution = {.strategy = strategy,
                                  .population = 6,
                                  .generations = 1,
                                  .in_flight = 1},
                    .objective = {},
                    .seed = 5,
                    .space = std::make_shared<const search_space>(small_space())},
          .problem = small_problem(),
          .seconds = seconds};
}

} // namespace

TEST_CASE("training search: it goes on until its trainings have taken the time") {
  world w;
  const auto r = search_by_training(searching("regularized", 200), w.by);
  REQUIRE(r);
  CHECK(r->trained == 22);
  CHECK(r->seconds == 198);
  CHECK(w.trained.size() == 23);
  CHECK(r->tested.metrics.front().value == 0.5);
  CHECK(w.examined == std::vector<candidate_id>{r->champion.id});
}

TEST_CASE("training search: the champion is the best that ended within the time") {
  world w;
  const auto r = search_by_training(searching("random", 100), w.by);
  REQUIRE(r);
  double best = 0;
  for (std::size_t i = 0; i + 1 < w.trained.size(); ++i) {
    const auto rate =
        std::get<double>(*find(w.trained[i].genome.hyperparameters, "learning_rate"));
    best = std::max(best, 1 - std::abs(std::log10(rate) + 2) / 4);
  }
  CHECK(find(r->champion.metrics, "validation.accuracy") == best);
}

TEST_CASE("training search: failures count, and where all fail there is no champion") {
  world some;
  some.fails = [](candidate_id id) { return id % 2 == 0; };
  const auto r = search_by_training(searching("random", 90), some.by);
  REQUIRE(r);
  CHECK(r->failed == 5);
  CHECK(r->champion.id % 2 == 1);
  world none;
  none.fails = [](candidate_id) { return true; };
  const auto wrong = search_by_training(searching("random", 90), none.by);
  REQUIRE_FALSE(wrong);
  CHECK(wrong.error().message
        == "no training succeeded within the time; allow more seconds");
}

TEST_CASE(
    "training search: on rungs it goes on from checkpoints, and pays for the rest") {
  world w;
  auto params = searching("asha", 200);
  params.rules.evolution.rungs = {1, 3, 9};
  const auto r = search_by_training(params, w.by);
  REQUIRE(r);
  CHECK(r->champion_epochs == 9);
  std::size_t went_on = 0;
  for (const auto& j : w.trained)
    if (j.start_epoch > 0) {
      ++went_on;
      CHECK(j.checkpoint == bytes{static_cast<char>(j.start)});
    }
  CHECK(went_on > 5);
  CHECK(r->trained > 40);
}
