// A training that goes on, and weights that are taken over, with LibTorch.
#include "engine/training/weights/checkpoint.hpp"
#include "tests/engine/training/training_data.hpp"
#include "tests/support/content_of.hpp"
#include "tests/support/genomes.hpp"

#include <catch2/catch.hpp>

using namespace clade;

namespace {

struct image_bench : training_bench {
  image_bench() : training_bench(halves_csv(60)) {
    setup.data.shape = {{1, 6, 6}};
    setup.space.input = layout::image;
  }
};

job rung(genome g, candidate_id id, std::uint32_t epochs) {
  auto j = a_job(std::move(g), id);
  j.budget = {.epochs = epochs, .horizon = 8};
  j.keep_checkpoint = checkpointing::whole;
  return j;
}

job going_on(const job& before, const evaluated_job& done, candidate_id id,
             std::uint32_t epochs) {
  auto j = rung(before.genome, id, epochs);
  j.start = before.id;
  j.start_epoch = before.budget.epochs;
  j.checkpoint = done.checkpoint;
  return j;
}

evaluated_job trained(fitness_function& trainer, const job& j) {
  listener ear;
  auto done = trainer.evaluate(j, ear);
  INFO(done.evaluation.reason);
  REQUIRE(done.evaluation.outcome == outcome::succeeded);
  return done;
}

void check_equal(const evaluated_job& parts, const evaluated_job& whole) {
  CHECK((parts.evaluation.metrics == whole.evaluation.metrics));
  CHECK(parts.evaluation.weights_hash == whole.evaluation.weights_hash);
  CHECK(parts.evaluation.parameters == whole.evaluation.parameters);
  CHECK(parts.checkpoint == whole.checkpoint);
}

std::vector<setting> parts_of_recipes() {
  return {{"cutout", std::int64_t{2}},
          {"ema", 0.9},
          {"flip", "yes"},
          {"gradient_clip", 0.5},
          {"label_smoothing", 0.1},
          {"mixup", 0.2},
          {"schedule", "one_cycle"},
          {"warmup", 0.2}};
}

// Returns a network of two residual branches, with dropout between their blocks.
genome a_residual_network() {
  const node_gene block{{}, "residual", {{"filters", std::int64_t{4}}}};
  auto g = test::a_chain({block, {{}, "dropout", {{"rate", 0.1}}}, block});
  g.hyperparameters = {{"learning_rate", 0.01}};
  return g;
}

} // namespace

TEST_CASE("continuing: three epochs and three more are six, bit for bit") {
  const image_bench bench;
  for (const auto* optimiser : {"sgd", "adam", "adamw"})
    for (const auto* schedule : {"constant", "cosine", "step", "one_cycle"}) {
      INFO(optimiser << ", " << schedule);
      auto g = a_conv_network(); // It has dropout, and images are shifted.
      assign(g.hyperparameters, "optimiser", optimiser);
      assign(g.hyperparameters, "schedule", schedule);
      const auto trainer = bench.trainer();
      const auto six = trained(*trainer, rung(g, 1, 6));
      const auto first = rung(g, 1, 3);
      const auto three = trained(*trainer, first);
      const auto more = trained(*bench.trainer(), going_on(first, three, 9, 6));
      check_equal(more, six);
      REQUIRE(more.evaluation.curve.size() == 3);
      for (std::size_t i = 0; i < 3; ++i) {
        CHECK((three.evaluation.curve[i].metrics == six.evaluation.curve[i].metrics));
        CHECK((more.evaluation.curve[i].metrics == six.evaluation.curve[i + 3].metrics));
        CHECK(more.evaluation.curve[i].number == i + 4);
      }
    }
}

TEST_CASE("continuing: each part of a recipe, and all together, go on bit for bit") {
  const image_bench bench;
  auto g = a_conv_network();
  for (const auto& [name, v] : parts_of_recipes()) {
    auto one = a_conv_network();
    for (auto* of : {&one, &g}) {
      INFO(name);
      assign(of->hyperparameters, name, v);
      const auto trainer = bench.trainer();
      const auto first = rung(*of, 1, 3);
      const auto second = going_on(first, trained(*trainer, first), 9, 5);
      check_equal(
          trained(*bench.trainer(), going_on(second, trained(*trainer, second), 12, 6)),
          trained(*trainer, rung(*of, 1, 6)));
    }
  }
}

TEST_CASE("continuing: each part of a recipe changes the training") {
  const image_bench bench;
  const auto trainer = bench.trainer();
  const auto plain = trained(*trainer, rung(a_conv_network(), 1, 2));
  for (const auto& [name, v] : parts_of_recipes()) {
    INFO(name);
    auto g = a_conv_network();
    assign(g.hyperparameters, name, v);
    CHECK(trained(*trainer, rung(g, 1, 2)).evaluation.weights_hash
          != plain.evaluation.weights_hash);
  }
}

TEST_CASE("continuing: with channels last it goes on bit for bit, near the usual bits") {
  image_bench bench;
  auto g = a_conv_network();
  assign(g.hyperparameters, "ema", 0.9);
  const auto first = rung(g, 1, 3);
  const auto six = rung(g, 1, 6);
  const auto usual = trained(*bench.trainer(), first);
  bench.setup.training.memory_format = memory_format::channels_last;
  const auto three = trained(*bench.trainer(), first);
  check_equal(trained(*bench.trainer(), going_on(first, three, 9, 6)),
              trained(*bench.trainer(), six));
  CHECK(metric_of(three.evaluation.metrics, "validation.loss")
        == Approx(metric_of(usual.evaluation.metrics, "validation.loss")).epsilon(1e-3));
  // Stored weights are in the same order.
  CHECK(trained(*bench.trainer(), going_on(first, usual, 9, 6)).evaluation.curve.size()
        == 3);
}

TEST_CASE("continuing: with bfloat16 it goes on bit for bit, near the usual results") {
  image_bench bench;
  auto g = a_conv_network();
  for (const auto& [name, v] : parts_of_recipes())
    if (name != "mixup")
      assign(g.hyperparameters, name, v);
  const auto first = rung(g, 1, 3);
  const auto usual = trained(*bench.trainer(), first);
  bench.setup.training.precision = float_format::bfloat16;
  const auto three = trained(*bench.trainer(), first);
  check_equal(trained(*bench.trainer(), going_on(first, three, 9, 6)),
              trained(*bench.trainer(), rung(g, 1, 6)));
  CHECK(three.evaluation.weights_hash != usual.evaluation.weights_hash);
  CHECK(metric_of(three.evaluation.metrics, "validation.loss")
        == Approx(metric_of(usual.evaluation.metrics, "validation.loss")).epsilon(0.1));
}

TEST_CASE("continuing: with stochastic depth it goes on bit for bit") {
  const image_bench bench;
  auto g = a_residual_network();
  const auto plain = trained(*bench.trainer(), rung(g, 1, 6));
  assign(g.hyperparameters, "stochastic_depth", 0.5);
  const auto trainer = bench.trainer();
  const auto six = trained(*trainer, rung(g, 1, 6));
  const auto first = rung(g, 1, 3);
  check_equal(trained(*bench.trainer(), going_on(first, trained(*trainer, first), 9, 6)),
              six);
  CHECK(six.evaluation.weights_hash != plain.evaluation.weights_hash);
}

TEST_CASE("continuing: without residual branches stochastic depth changes nothing") {
  const image_bench bench;
  auto g = a_conv_network();
  const auto plain = trained(*bench.trainer(), rung(g, 1, 2));
  assign(g.hyperparameters, "stochastic_depth", 0.5);
  CHECK(trained(*bench.trainer(), rung(g, 1, 2)).evaluation.weights_hash
        == plain.evaluation.weights_hash);
}

TEST_CASE("continuing: an average of weights begins or ends where the recipe changes") {
  const image_bench bench;
  const auto trainer = bench.trainer();
  auto averaged = a_conv_network();
  assign(averaged.hyperparameters, "ema", 0.9);
  for (const bool begins : {true, false}) {
    const auto first = rung(begins ? a_conv_network() : averaged, 1, 2);
    auto next = going_on(first, trained(*trainer, first), 2, 4);
    next.genome = begins ? averaged : a_conv_network();
    const auto done =
        decode_checkpoint(test::content_of(trained(*trainer, next).checkpoint));
    REQUIRE(done);
    CHECK(done->position->average.empty() != begins);
  }
}

TEST_CASE("continuing: what is kept is the average that was validated") {
  const training_bench bench(separable_csv(150));
  const auto trainer = bench.trainer();
  const auto loss_of_kept = [&](double ema) {
    auto first = rung(a_dense_network(), 1, 4);
    assign(first.genome.hyperparameters, "batch_size", std::int64_t{8});
    assign(first.genome.hyperparameters, "ema", ema);
    const auto done = trained(*trainer, first);
    // Another network takes over what was kept, and hardly moves.
    auto next = rung(a_dense_network(), 2, 1);
    assign(next.genome.hyperparameters, "learning_rate", 1e-9);
    next.start = 1;
    next.checkpoint = done.checkpoint;
    const auto loss = metric_of(done.evaluation.metrics, "validation.loss");
    const auto started = trained(*trainer, next).evaluation.metrics;
    CHECK(metric_of(started, "validation.loss") == Approx(loss).epsilon(1e-3));
    return loss;
  };
  CHECK(loss_of_kept(0) < loss_of_kept(0.95)); // The average lags behind.
}

TEST_CASE("continuing: in three parts it is the same too") {
  const image_bench bench;
  const auto trainer = bench.trainer();
  const auto first = rung(a_conv_network(), 1, 1);
  const auto one = trained(*trainer, first);
  const auto second = going_on(first, one, 2, 4);
  const auto four = trained(*trainer, second);
  check_equal(trained(*trainer, going_on(second, four, 3, 7)),
              trained(*trainer, rung(a_conv_network(), 1, 7)));
}

TEST_CASE("continuing: patience and the best epoch reach back before the break") {
  training_bench bench(noise_csv(60));
  bench.setup.training.patience = 3;
  const auto trainer = bench.trainer();
  auto g = a_dense_network();
  assign(g.hyperparameters, "schedule", "constant");
  const auto whole = trained(*trainer, rung(g, 1, 200));
  const auto epochs = static_cast<std::uint32_t>(whole.evaluation.curve.size());
  REQUIRE(epochs > 3);
  REQUIRE(epochs < 200);
  for (std::uint32_t part = 1; part <= epochs; ++part) {
    INFO("a break after epoch " << part << " of " << epochs);
    const auto first = rung(g, 1, part);
    check_equal(trained(*trainer, going_on(first, trained(*trainer, first), 2, 200)),
                whole);
  }
}

TEST_CASE("continuing: a schedule is laid over the experiment's epochs, not the rung's") {
  const image_bench bench;
  const auto trainer = bench.trainer();
  auto rung_of_4 = rung(a_conv_network(), 1, 4);
  const auto over_8 = trained(*trainer, rung_of_4);
  rung_of_4.budget.horizon = 4;
  const auto over_4 = trained(*trainer, rung_of_4);
  CHECK(
      (over_8.evaluation.curve.back().metrics != over_4.evaluation.curve.back().metrics));
  rung_of_4.budget.horizon = 0; // The schedule has all epochs.
  CHECK(trained(*trainer, rung_of_4).evaluation.weights_hash
        == over_4.evaluation.weights_hash);
}

TEST_CASE("continuing: other hyperparameters go on from the same weights") {
  const image_bench bench;
  const auto trainer = bench.trainer();
  const auto first = rung(a_conv_network(), 1, 3);
  const auto three = trained(*trainer, first);
  for (const auto* optimiser : {"adam", "sgd"}) {
    auto next = going_on(first, three, 2, 4);
    assign(next.genome.hyperparameters, "optimiser", optimiser);
    assign(next.genome.hyperparameters, "learning_rate", 1e-9);
    const auto four = trained(*trainer, next);
    const auto before = decode_checkpoint(test::content_of(three.checkpoint))->position;
    const auto after = decode_checkpoint(test::content_of(four.checkpoint))->position;
    REQUIRE(before);
    REQUIRE(after);
    CHECK(after->epochs == 4);
    CHECK((after->optimiser == optimiser));
    for (std::size_t i = 0; i < before->weights[0].values.size(); ++i)
      CHECK(after->weights[0].values[i]
            == Approx(before->weights[0].values[i]).margin(1e-5));
  }
}

TEST_CASE("continuing: without its checkpoint, or with a damaged one, it is invalid") {
  const image_bench bench;
  const auto trainer = bench.trainer();
  const auto first = rung(a_conv_network(), 1, 3);
  const auto three = trained(*trainer, first);
  auto next = going_on(first, three, 2, 6);
  listener ear;
  auto damaged = test::content_of(next.checkpoint);
  damaged[damaged.size() / 2] ^= 1;
  next.checkpoint = std::move(damaged);
  CHECK(trainer->evaluate(next, ear).evaluation.outcome == outcome::invalid);
  next.checkpoint = {};
  const auto e = trainer->evaluate(next, ear).evaluation;
  CHECK(e.outcome == outcome::invalid);
  CHECK(e.reason.starts_with("the weights of #1: "));
  auto back = going_on(first, three, 2, 3);
  CHECK(trainer->evaluate(back, ear).evaluation.outcome == outcome::invalid);
}

TEST_CASE("continuing: a checkpoint is given where it is asked for") {
  const image_bench bench;
  const auto trainer = bench.trainer();
  auto j = rung(a_conv_network(), 1, 2);
  const auto whole = test::content_of(trained(*trainer, j).checkpoint);
  j.keep_checkpoint = checkpointing::weights;
  const auto weights = test::content_of(trained(*trainer, j).checkpoint);
  j.keep_checkpoint = checkpointing::none;
  CHECK(trained(*trainer, j).checkpoint.empty());
  REQUIRE(decode_checkpoint(whole));
  REQUIRE(decode_checkpoint(weights));
  CHECK(decode_checkpoint(whole)->position);
  CHECK_FALSE(decode_checkpoint(weights)->position);
  CHECK((decode_checkpoint(whole)->weights == decode_checkpoint(weights)->weights));
}

TEST_CASE("continuing: a wider child starts from its parent's weights") {
  const training_bench bench(separable_csv(150));
  const auto trainer = bench.trainer();
  auto parent = a_job(a_dense_network(), 1);
  parent.keep_checkpoint = checkpointing::weights;
  const auto done = trained(*trainer, parent);
  auto child = a_job(a_dense_network(), 2);
  assign(child.genome.nodes.back().settings, "units", std::int64_t{24});
  assign(child.genome.hyperparameters, "learning_rate", 1e-9);
  child.budget.epochs = 1;
  child.start = 1;
  child.checkpoint = done.checkpoint;
  const auto started = trained(*trainer, child).evaluation;
  const auto loss = metric_of(done.evaluation.metrics, "validation.loss");
  CHECK(metric_of(started.metrics, "validation.loss") == Approx(loss).epsilon(1e-3));
  child.start = 0;
  CHECK(metric_of(trained(*trainer, child).evaluation.metrics, "validation.loss")
        > 1.5 * loss);
}
