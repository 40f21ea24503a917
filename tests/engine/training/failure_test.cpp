#include "engine/run/steps/retraining.hpp"
#include "genome/genes/hash.hpp"
#include "tests/engine/training/training_data.hpp"
#include "tests/support/content_of.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <limits>

using namespace clade;
using Catch::Matchers::Contains;

namespace {

evaluation evaluated(fitness_function& trainer, const job& j) {
  listener ear;
  return trainer.evaluate(j, ear).evaluation;
}

std::string refusal(const training_setup& setup) {
  const auto made = make_trainer(setup);
  return made ? "made" : made.error().message;
}

} // namespace

TEST_CASE("trainer: a loss that is no number is a divergence") {
  training_bench bench(plane_csv(60));
  bench.setup.data.task = regression;
  bench.setup.goal = {.metric = "validation.rmse", .maximize = false};
  auto j = a_job(a_dense_network());
  assign(j.genome.hyperparameters, "optimiser", "sgd");
  assign(j.genome.hyperparameters, "learning_rate", 1e6);
  const auto e = evaluated(*bench.trainer(), j);
  CHECK(e.outcome == outcome::diverged);
  CHECK_THAT(e.reason, Contains("became no finite number in epoch"));
  CHECK(e.metrics.empty());
  CHECK(e.weights_hash == 0);
}

TEST_CASE(
    "trainer: what others go on from is timed out before its first epoch has ended") {
  // Its epochs have hundreds of batches, which take longer than a millisecond.
  const training_bench bench(separable_csv(20'000));
  auto j = a_job(a_dense_network());
  j.budget = {.epochs = 100'000'000, .time = std::chrono::milliseconds(1)};
  j.keep_checkpoint = checkpointing::whole;
  const auto e = evaluated(*bench.trainer(), j);
  CHECK(e.outcome == outcome::timed_out);
  CHECK_THAT(e.reason, Contains("out of time in epoch 1"));
  CHECK(e.metrics.empty());
}

TEST_CASE("trainer: what was learnt in a part of the first epoch counts") {
  // The clock is asked after each batch; the listener of the first epoch hears of the part.
  const training_bench bench(separable_csv(40'000));
  const auto trainer = bench.trainer();
  REQUIRE(trainer->warm_up());
  auto j = a_job(a_dense_network());
  j.keep_weights_above = -1;
  unheard_progress nobody;
  // Longer and longer, until the time is enough for a part.
  evaluated_job done;
  for (auto time = std::chrono::milliseconds(50);; time += time / 2) {
    j.budget = {.epochs = 100'000'000, .time = time};
    done = trainer->evaluate(j, nobody);
    REQUIRE(done.evaluation.outcome == outcome::succeeded);
    if (*find(done.evaluation.metrics, "validation.accuracy") > 0.8)
      break;
  }
  const auto& e = done.evaluation;
  REQUIRE(!e.curve.empty());
  CHECK_THAT(e.reason, Contains("limits.evaluation_time"));
  CHECK(*find(e.metrics, "validation.accuracy") > 0.8);
  if (e.curve.size() == 1 && e.reason.find("in epoch 1") != std::string::npos)
    CHECK(e.curve.front().seconds > 0);
  CHECK(trainer->examine(j, test::content_of(done.weights)));
}

TEST_CASE("trainer: rates that follow the clock end in time, and the log repeats them") {
  const training_bench bench(separable_csv(60));
  const auto trainer = bench.trainer();
  auto j = a_job(a_dense_network());
  j.budget = {.epochs = 100'000'000, .time = std::chrono::seconds(1)};
  j.keep_weights_above = -1;
  REQUIRE(trainer->warm_up());
  unheard_progress nobody;
  const auto done = trainer->evaluate(j, nobody);
  const auto& e = done.evaluation;
  REQUIRE(e.outcome == outcome::succeeded);
  CHECK_THAT(e.reason, Contains("limits.evaluation_time had room for"));
  CHECK_THAT(e.reason, Contains("of 100000000 epochs"));
  REQUIRE_FALSE(e.curve.empty());
  double lowest = std::numeric_limits<double>::infinity(), best = 0;
  for (const auto& epoch : e.curve) {
    best = std::max(best, *find(epoch.metrics, "validation.accuracy"));
    lowest = std::min(lowest, *find(epoch.metrics, "validation.loss"));
  }
  CHECK(*find(e.metrics, "validation.accuracy") == best);
  // Its weights are those of that epoch: their test needs no other training.
  CHECK(done.evaluation.weights_hash == done.weights.checksum());
  CHECK(trainer->examine(j, test::content_of(done.weights)));
  REQUIRE(e.updates);
  CHECK(repeatable(e));
  auto again = j;
  again.budget.time = std::chrono::milliseconds(0);
  again.updates.assign(e.updates->begin(), e.updates->end());
  const auto repeated = trainer->evaluate(again, nobody).evaluation;
  CHECK(compare(e, repeated).equal());
  CHECK(repeated.updates == e.updates);
}

TEST_CASE("trainer: a training that others go on from is whole or failed") {
  const training_bench bench(separable_csv(60));
  const auto trainer = bench.trainer();
  REQUIRE(trainer->warm_up());
  auto j = a_job(a_dense_network());
  j.budget = {.epochs = 100'000'000, .time = std::chrono::milliseconds(100)};
  j.keep_checkpoint = checkpointing::whole;
  const auto e = evaluated(*trainer, j);
  CHECK(e.outcome == outcome::timed_out);
  CHECK_THAT(e.reason, Contains("out of time in epoch"));
}

TEST_CASE("trainer: what needs too much memory is not begun") {
  training_bench bench(separable_csv(60));
  bench.setup.space.limits.max_width = 4096;
  auto j = a_job(a_dense_network());
  assign(j.genome.nodes.back().settings, "units", std::int64_t{4096});
  j.budget.memory_bytes = 1 << 20;
  const auto e = evaluated(*bench.trainer(), j);
  CHECK(e.outcome == outcome::out_of_memory);
  CHECK_THAT(e.reason, Contains("MiB of the 1 allowed"));
  CHECK(e.curve.empty());
  j.budget.memory_bytes = 1 << 30;
  CHECK(evaluated(*bench.trainer(), j).outcome == outcome::succeeded);
}

TEST_CASE("trainer: nobody wants the rest of a training that is dropped") {
  const training_bench bench(separable_csv(60));
  listener ear;
  ear.patience = 3;
  const auto e = bench.trainer()->evaluate(a_job(a_dense_network()), ear).evaluation;
  CHECK(e.outcome == outcome::dropped);
  CHECK(e.reason == "stopped after epoch 3");
  CHECK(e.curve.size() == 3);
}

TEST_CASE("trainer: a genome that makes no network is invalid") {
  const training_bench bench(separable_csv(60));
  const auto trainer = bench.trainer();
  auto j = a_job(a_dense_network());
  j.genome.nodes.back().op = "perpetuum";
  CHECK(evaluated(*trainer, j).outcome == outcome::invalid);
  CHECK_THAT(evaluated(*trainer, j).reason, Contains("perpetuum"));

  auto wordy = a_job(a_dense_network());
  assign(wordy.genome.hyperparameters, "learning_rate", "fast");
  const auto e = evaluated(*trainer, wordy);
  CHECK(e.outcome == outcome::invalid);
  CHECK(e.reason == "learning_rate is no number");
}

TEST_CASE("trainer: one failure leaves the next candidate alone") {
  const training_bench bench(separable_csv(60));
  const auto trainer = bench.trainer();
  const auto good = evaluated(*trainer, a_job(a_dense_network()));
  auto bad = a_job(a_dense_network(), 2);
  bad.genome.nodes.back().op = "perpetuum";
  evaluated(*trainer, bad);
  const auto again = evaluated(*trainer, a_job(a_dense_network()));
  CHECK(again.weights_hash == good.weights_hash);
  CHECK((again.metrics == good.metrics));
}

TEST_CASE("trainer: a setup that asks for what training does not have is refused") {
  const training_bench bench(separable_csv(60));
  CHECK(refusal(bench.setup) == "made");
  auto setup = bench.setup;
  setup.space.rules.hyperparameters = {{.name = "mood", .domain = real_domain{}}};
  CHECK(refusal(setup) == "space.toml: no training reads the hyperparameter mood");
  setup = bench.setup;
  setup.goal.metric = "validation.r2";
  CHECK(refusal(setup)
        == "objective: no metric validation.r2; there are validation.accuracy, "
           "validation.loss, validation.balanced_accuracy, validation.auc, "
           "validation.f1_macro, validation.matthews, validation.top_3, "
           "validation.top_5, validation.f1.CLASS");
  setup = bench.setup;
  setup.training.epochs = 0;
  CHECK_THAT(refusal(setup), Contains("training.epochs"));
  setup = bench.setup;
  setup.device = "cuda:63";
  CHECK_THAT(refusal(setup), Contains("device cuda:63: "));
  setup.device = "toaster";
  CHECK_THAT(refusal(setup), Contains("device toaster: "));
}

TEST_CASE("trainer: data that are not there or of another shape stop the warming up") {
  training_bench bench(separable_csv(60));
  bench.setup.space.input = layout::image;
  const auto flat = bench.trainer()->warm_up();
  REQUIRE_FALSE(flat);
  CHECK_THAT(flat.error().message, Contains("wants images") && Contains("[2]"));
  bench.setup.data.file = "nowhere.csv";
  const auto missing = bench.trainer()->warm_up();
  REQUIRE_FALSE(missing);
  CHECK_THAT(missing.error().message, Contains("nowhere.csv"));
  const auto e = evaluated(*bench.trainer(), a_job(a_dense_network()));
  CHECK(e.outcome == outcome::invalid);
}

TEST_CASE("trainer: warming up leaves no trace in what follows") {
  training_bench bench(separable_csv(60));
  bench.setup.space.rules.operators = {{.name = "dense", .settings = {}}};
  const auto warm = bench.trainer();
  REQUIRE(warm->warm_up());
  CHECK(evaluated(*warm, a_job(a_dense_network())).weights_hash
        == evaluated(*bench.trainer(), a_job(a_dense_network())).weights_hash);
}
