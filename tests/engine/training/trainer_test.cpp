#include "engine/training/metrics/metrics.hpp"
#include "tests/engine/training/training_data.hpp"
#include "tests/support/content_of.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>

using namespace clade;

namespace {

std::vector<std::string> names(const std::vector<metric>& metrics) {
  std::vector<std::string> out;
  for (const auto& m : metrics)
    out.push_back(m.name);
  return out;
}

// The part of an evaluation that is a pure function of the job.
struct decisive {
  std::vector<metric> metrics;
  std::vector<std::vector<metric>> curve;
  std::uint64_t weights_hash;

  bool operator==(const decisive&) const = default;
};

decisive decisive_part(const evaluation& e) {
  decisive d{e.metrics, {}, e.weights_hash};
  for (const auto& point : e.curve)
    d.curve.push_back(point.metrics);
  return d;
}

evaluation evaluated(fitness_function& trainer, const job& j) {
  listener ear;
  auto e = trainer.evaluate(j, ear).evaluation;
  INFO(e.reason);
  REQUIRE(e.outcome == outcome::succeeded);
  return e;
}

} // namespace

TEST_CASE("trainer: separable classes are all told apart") {
  const training_bench bench(separable_csv(150));
  const auto trainer = bench.trainer();
  const auto e = evaluated(*trainer, a_job(a_dense_network()));
  CHECK(names(e.metrics) == epoch_metrics(classification));
  CHECK(metric_of(e.metrics, "validation.accuracy") == 1.0);
  CHECK(metric_of(e.metrics, "validation.loss") < 0.2);
  CHECK(e.parameters == 2 * 16 + 16 + 16 * 3 + 3);
  CHECK(e.id == 1);
  CHECK(e.seconds > 0);
  const auto x = trainer->examine(a_job(a_dense_network()), {});
  REQUIRE(x);
  CHECK(names(x->metrics) == std::vector<std::string>{"test.accuracy", "test.loss"});
  CHECK(metric_of(x->metrics, "test.accuracy") == 1.0);
}

TEST_CASE("trainer: a plane is fitted and errors are in its own unit") {
  training_bench bench(plane_csv(200));
  bench.setup.data.task = regression;
  bench.setup.goal = {.metric = "validation.rmse", .maximize = false};
  const auto trainer = bench.trainer();
  auto j = a_job(a_dense_network());
  j.budget.epochs = 30;
  const auto e = evaluated(*trainer, j);
  CHECK(names(e.metrics) == epoch_metrics(regression));
  const double mse = metric_of(e.metrics, "validation.mse");
  CHECK(metric_of(e.metrics, "validation.rmse") == Approx(std::sqrt(mse)));
  CHECK(metric_of(e.metrics, "validation.r2") > 0.95);
  // The plane's deviation is 36, which the loss is free of.
  CHECK(std::sqrt(mse / metric_of(e.metrics, "validation.loss")) == Approx(36).margin(6));
}

TEST_CASE("trainer: the same job gives the same bits") {
  training_bench bench(halves_csv(60));
  bench.setup.data.shape = {{1, 6, 6}};
  bench.setup.space.input = layout::image;
  const auto once = evaluated(*bench.trainer(), a_job(a_conv_network()));
  const auto trainer = bench.trainer();
  evaluated(*trainer, a_job(a_conv_network(), 2)); // leaves no trace
  const auto twice = evaluated(*trainer, a_job(a_conv_network()));
  CHECK((decisive_part(once) == decisive_part(twice)));
}

TEST_CASE("trainer: another candidate or seed draws other numbers") {
  training_bench bench(halves_csv(60));
  bench.setup.data.shape = {{1, 6, 6}};
  bench.setup.space.input = layout::image;
  const auto trainer = bench.trainer();
  auto j = a_job(a_conv_network());
  const auto one = evaluated(*trainer, j);
  j.id = 2;
  const auto other_id = evaluated(*trainer, j);
  j.id = 1;
  j.seed = 2;
  const auto other_seed = evaluated(*trainer, j);
  CHECK(one.weights_hash != other_id.weights_hash);
  CHECK(one.weights_hash != other_seed.weights_hash);
  CHECK((one.metrics != other_id.metrics));
}

TEST_CASE("trainer: every optimiser and schedule learns") {
  const training_bench bench(separable_csv(150));
  const auto trainer = bench.trainer();
  for (const auto* optimiser : {"sgd", "adam", "adamw"})
    for (const auto* schedule : {"constant", "cosine", "step", "one_cycle"}) {
      INFO(optimiser << ", " << schedule);
      auto j = a_job(a_dense_network());
      assign(j.genome.hyperparameters, "optimiser", optimiser);
      assign(j.genome.hyperparameters, "schedule", schedule);
      assign(j.genome.hyperparameters, "batch_size", std::int64_t{8});
      const auto e = evaluated(*trainer, j);
      CHECK(metric_of(e.metrics, "validation.accuracy") >= 0.95);
      CHECK(e.curve.back().metrics.front().value < e.curve.front().metrics.front().value);
    }
}

TEST_CASE("trainer: every epoch is heard of as it ends") {
  const training_bench bench(separable_csv(60));
  const auto trainer = bench.trainer();
  listener ear;
  const auto e = trainer->evaluate(a_job(a_dense_network()), ear).evaluation;
  REQUIRE(ear.heard.size() == 10);
  CHECK((ear.heard == e.curve));
  for (std::size_t i = 0; i < ear.heard.size(); ++i)
    CHECK(ear.heard[i].number == i + 1);
}

TEST_CASE("trainer: the epoch with the best objective counts and ties go to the loss") {
  training_bench bench(noise_csv(60));
  for (const auto& goal :
       {objective{"validation.accuracy", true}, objective{"validation.loss", false}}) {
    bench.setup.goal = goal;
    const auto e = evaluated(*bench.trainer(), a_job(a_dense_network()));
    const double sign = goal.maximize ? 1 : -1;
    const auto rank = [&](const std::vector<metric>& m) {
      return std::pair(sign * metric_of(m, goal.metric),
                       -metric_of(m, "validation.loss"));
    };
    const auto best = std::ranges::max_element(
        e.curve, {}, [&](const epoch& point) { return rank(point.metrics); });
    CHECK((e.metrics == best->metrics));
  }
}

TEST_CASE("trainer: training stops early when validation loss no longer falls") {
  training_bench bench(noise_csv(60));
  bench.setup.training.patience = 3;
  auto j = a_job(a_dense_network());
  j.budget.epochs = 500;
  const auto e = evaluated(*bench.trainer(), j);
  REQUIRE(e.curve.size() < 500);
  const auto loss = [](const epoch& point) {
    return metric_of(point.metrics, "validation.loss");
  };
  const auto lowest = std::ranges::min_element(e.curve, {}, loss);
  CHECK(e.curve.end() - lowest == 4);
}

TEST_CASE("trainer: label smoothing keeps the network less sure of itself") {
  const training_bench bench(separable_csv(150));
  const auto trainer = bench.trainer();
  auto j = a_job(a_dense_network());
  const auto sharp = evaluated(*trainer, j);
  assign(j.genome.hyperparameters, "label_smoothing", 0.3);
  const auto smooth = evaluated(*trainer, j);
  CHECK(metric_of(smooth.metrics, "validation.loss")
        > metric_of(sharp.metrics, "validation.loss"));
  CHECK(metric_of(smooth.metrics, "validation.accuracy") == 1.0);
}

TEST_CASE("trainer: weights are kept for the fit and examine as the training did") {
  training_bench bench(halves_csv(60));
  bench.setup.data.shape = {{1, 6, 6}};
  bench.setup.space.input = layout::image;
  const auto trainer = bench.trainer();
  listener ear;
  auto j = a_job(a_conv_network());
  CHECK(trainer->evaluate(j, ear).weights.empty());
  j.keep_weights_above = 2;
  CHECK(trainer->evaluate(j, ear).weights.empty());
  j.keep_weights_above = -1;
  const auto kept = test::content_of(trainer->evaluate(j, ear).weights);
  REQUIRE_FALSE(kept.empty());

  const auto again = trainer->examine(j, {});
  const auto loaded = bench.trainer()->examine(j, kept);
  REQUIRE(again);
  REQUIRE(loaded);
  CHECK((loaded->metrics == again->metrics));
  CHECK(loaded->id == j.id);
  CHECK(loaded->parameters == trainer->evaluate(j, ear).evaluation.parameters);
}

TEST_CASE("trainer: weights that are damaged or of another network are an error") {
  const training_bench bench(separable_csv(60));
  const auto trainer = bench.trainer();
  listener ear;
  auto j = a_job(a_dense_network());
  j.keep_weights_above = -1;
  auto weights = test::content_of(trainer->evaluate(j, ear).weights);
  REQUIRE_FALSE(weights.empty());
  auto wider = j;
  assign(wider.genome.nodes.back().settings, "units", std::int64_t{17});
  REQUIRE(find_node(wider.genome, wider.genome.nodes.back().id)->op == "dense");
  const auto other = trainer->examine(wider, weights);
  REQUIRE_FALSE(other);
  CHECK(other.error().kind == error_kind::corrupt);
  weights[weights.size() / 2] = static_cast<char>(weights[weights.size() / 2] ^ 1);
  const auto damaged = trainer->examine(j, weights);
  REQUIRE_FALSE(damaged);
  CHECK(damaged.error().kind == error_kind::corrupt);
}

TEST_CASE("trainer: several threads give the same bits each time and none to the next") {
  training_bench bench(halves_csv(60));
  const auto trainer = bench.trainer();
  const auto alone = decisive_part(evaluated(*trainer, a_job(a_conv_network())));
  auto together = a_job(a_conv_network());
  together.budget.threads = 3;
  const auto first = decisive_part(evaluated(*trainer, together));
  CHECK(decisive_part(evaluated(*trainer, a_job(a_conv_network()))) == alone);
  CHECK(decisive_part(evaluated(*trainer, together)) == first);
  CHECK(first.metrics.size() == alone.metrics.size());
}
