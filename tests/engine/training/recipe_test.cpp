#include "engine/training/asked/distribution_advice.hpp"
#include "engine/training/asked/recipe.hpp"

#include <catch2/catch.hpp>
#include <rapidcheck.h>

using namespace clade;

namespace {

std::string objection_to(const training_params& params) {
  const auto valid = validate(params);
  return valid ? "valid" : valid.error().message;
}

std::string objection_to(const setting& s) {
  const auto r = recipe_of({}, {s});
  return r ? "valid" : r.error().message;
}

} // namespace

TEST_CASE("training params: the defaults are valid and what is wrong is named") {
  CHECK(objection_to(training_params{}) == "valid");
  CHECK(objection_to(training_params{.epochs = 0})
        == "training.epochs is 0; give at least 1");
  CHECK(objection_to(training_params{.optimiser = "lion"})
        == "training.optimizer is \"lion\"; there are sgd, adam, adamw, muon");
  CHECK(
      objection_to(training_params{.schedule = "linear"})
      == "training.schedule is \"linear\"; there are constant, cosine, step, one_cycle");
  CHECK(objection_to(training_params{.learning_rate = 0})
        == "training.learning_rate is not above 0");
  CHECK(objection_to(training_params{.momentum = 1})
        == "training.momentum is not in [0, 1)");
  CHECK(objection_to(training_params{.weight_decay = -1})
        == "training.weight_decay is below 0");
  CHECK(objection_to(training_params{.batch_size = 0})
        == "training.batch_size is not in [1, 1048576]");
  CHECK(objection_to(training_params{.warmup = 0.6})
        == "training.warmup is not in [0, 0.5]");
  CHECK(objection_to(training_params{.cutout = 65})
        == "training.cutout is not in [0, 64]");
  CHECK(objection_to(training_params{.mixup = -1}) == "training.mixup is not in [0, 4]");
  CHECK(objection_to(training_params{.gradient_clip = -1})
        == "training.gradient_clip is not in [0, 1000000]");
  CHECK(objection_to(training_params{.ema = 1}) == "training.ema is not in [0, 1)");
  CHECK(objection_to(setting{"time_shift", 0.6}) == "time_shift is not in [0, 0.5]");
  CHECK(objection_to(setting{"time_shift", 0.5}) == "valid");
  CHECK(objection_to(setting{"rotation", 181.0}) == "rotation is not in [0, 180]");
  CHECK(objection_to(setting{"zoom", 1.0}) == "zoom is not in [0, 0.9]");
  CHECK(objection_to(setting{"color", -0.1}) == "color is not in [0, 1]");
  CHECK(objection_to(setting{"slice", 1.0}) == "slice is not in [0, 0.9]");
  CHECK(objection_to(setting{"jitter", 11.0}) == "jitter is not in [0, 10]");
  CHECK(objection_to(setting{"scaling", 1.0}) == "scaling is not in [0, 0.9]");
}

TEST_CASE("training params: float16 is for CUDA devices") {
  const training_params half{.precision = float_format::float16};
  CHECK(check_device(half, "cuda:0"));
  const auto refused = check_device(half, "cpu");
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message
        == "training.precision = \"float16\" is for CUDA devices, not for cpu; take "
           "\"bfloat16\" or \"float32\"");
  CHECK(check_device({.precision = float_format::bfloat16}, "cpu"));
}

TEST_CASE("training params: CUDA devices share a training by two distributions") {
  training_params params;
  params.distribution.devices = 2;
  for (const auto& row : distribution_rows()) {
    if (!row.divides)
      continue;
    INFO(row.name);
    params.distribution.name = row.name;
    CHECK(check_device(params, "cpu"));
    const auto there = check_device(params, "cuda:0");
    CHECK(there.has_value()
          == (row.name == "multi_worker_mirrored" || row.name == "local_sgd"));
    if (!there)
      CHECK_THAT(there.error().message, Catch::Contains("\"multi_worker_mirrored\""));
  }
}

TEST_CASE("recipe: hyperparameters of the genome go before the defaults") {
  const training_params defaults{.optimiser = "sgd",
                                 .schedule = "step",
                                 .learning_rate = 0.5,
                                 .momentum = 0.25,
                                 .weight_decay = 0.125,
                                 .batch_size = 8};
  const auto plain = recipe_of(defaults, {});
  REQUIRE(plain);
  CHECK(plain->optimiser == optimiser_kind::sgd);
  CHECK(plain->schedule == schedule_kind::step);
  CHECK(plain->learning_rate == 0.5);
  CHECK(plain->momentum == 0.25);
  CHECK(plain->weight_decay == 0.125);
  CHECK(plain->batch_size == 8);
  CHECK(plain->label_smoothing == 0);
  CHECK(plain->shift == 0);
  CHECK_FALSE(plain->flip);
  CHECK(plain->warmup == 0);
  CHECK(plain->cutout == 0);
  CHECK(plain->mixup == 0);
  CHECK(plain->gradient_clip == 0);
  CHECK(plain->ema == 0);
  CHECK(plain->stochastic_depth == 0);

  const auto own = recipe_of(defaults, {{"batch_size", std::int64_t{16}},
                                        {"flip", "yes"},
                                        {"label_smoothing", 0.1},
                                        {"learning_rate", 0.01},
                                        {"momentum", 0.9},
                                        {"optimizer", "adamw"},
                                        {"schedule", "cosine"},
                                        {"shift", std::int64_t{2}},
                                        {"stochastic_depth", 0.2},
                                        {"weight_decay", std::int64_t{0}}});
  REQUIRE(own);
  CHECK(own->optimiser == optimiser_kind::adamw);
  CHECK(own->schedule == schedule_kind::cosine);
  CHECK(own->learning_rate == 0.01);
  CHECK(own->momentum == 0.9);
  CHECK(own->weight_decay == 0);
  CHECK(own->batch_size == 16);
  CHECK(own->label_smoothing == 0.1);
  CHECK(own->shift == 2);
  CHECK(own->stochastic_depth == 0.2);
  CHECK(own->flip);
}

TEST_CASE("recipe: [training] has a value for what the genome leaves out") {
  const training_params defaults{
      .warmup = 0.125, .cutout = 3, .mixup = 0.5, .gradient_clip = 2, .ema = 0.5};
  const auto plain = recipe_of(defaults, {});
  REQUIRE(plain);
  CHECK(plain->warmup == 0.125);
  CHECK(plain->cutout == 3);
  CHECK(plain->mixup == 0.5);
  CHECK(plain->gradient_clip == 2);
  CHECK(plain->ema == 0.5);
  const auto own = recipe_of(defaults, {{"cutout", std::int64_t{4}},
                                        {"ema", 0.75},
                                        {"gradient_clip", std::int64_t{1}},
                                        {"mixup", 0.25},
                                        {"warmup", std::int64_t{0}}});
  REQUIRE(own);
  CHECK(own->warmup == 0);
  CHECK(own->cutout == 4);
  CHECK(own->mixup == 0.25);
  CHECK(own->gradient_clip == 1);
  CHECK(own->ema == 0.75);
}

TEST_CASE("recipe: genomes of earlier versions have British names") {
  CHECK(recipe_of({}, {{"optimiser", "sgd"}})->optimiser == optimiser_kind::sgd);
  CHECK(find_hyperparameter("optimiser") == find_hyperparameter("optimizer"));
}

TEST_CASE("recipe: Muon gives way to AdamW where no device has whole weights") {
  const auto chosen = [](const std::string& name) {
    training_params params{.optimiser = "muon"};
    params.distribution = {.name = name, .devices = 2};
    return recipe_of(params, {})->optimiser;
  };
  CHECK(recipe_of({.optimiser = "muon"}, {})->optimiser == optimiser_kind::muon);
  CHECK(chosen("mirrored") == optimiser_kind::muon);
  CHECK(chosen("multi_worker_mirrored") == optimiser_kind::muon);
  CHECK(chosen("local_sgd") == optimiser_kind::muon);
  CHECK(chosen("sharded") == optimiser_kind::adamw);
  CHECK(chosen("pipeline") == optimiser_kind::adamw);
  CHECK(chosen("parameter_server") == optimiser_kind::adamw);
  CHECK(chosen("peer_to_peer") == optimiser_kind::adamw);
}

TEST_CASE("recipe: a value of the wrong type or out of range is an error") {
  CHECK(objection_to(setting{"learning_rate", "fast"}) == "learning_rate is no number");
  CHECK(objection_to(setting{"batch_size", 16.5}) == "batch_size is no whole number");
  CHECK(objection_to(setting{"optimizer", 1.0}) == "optimizer is no word");
  CHECK(objection_to(setting{"optimiser", 1.0}) == "optimiser is no word");
  CHECK(objection_to(setting{"label_smoothing", 1.0})
        == "label_smoothing is not in [0, 1)");
  CHECK(objection_to(setting{"stochastic_depth", 0.8}) == "valid");
  CHECK(objection_to(setting{"stochastic_depth", 0.9})
        == "stochastic_depth is not in [0, 0.8]");
  CHECK(objection_to(setting{"shift", std::int64_t{-1}}) == "shift is not in [0, 64]");
  CHECK(objection_to(setting{"flip", "perhaps"})
        == "flip is \"perhaps\"; there are no, yes");
}

TEST_CASE("recipe: every hyperparameter that is said to be read is read") {
  for (const auto& [name, sentence] : hyperparameters()) {
    // No hyperparameter is both a number and a word.
    const bool takes_number = objection_to(setting{std::string(name), 1e9}) == "valid";
    const bool takes_word = objection_to(setting{std::string(name), "?"}) == "valid";
    CHECK_FALSE((takes_number && takes_word));
  }
  CHECK(objection_to(setting{"unknown", "?"}) == "valid");
}

TEST_CASE("recipe: schedules go from the whole rate down") {
  recipe r{.schedule = schedule_kind::constant, .learning_rate = 8};
  CHECK(learning_rate_at(r, 0) == 8);
  CHECK(learning_rate_at(r, 0.99) == 8);
  r.schedule = schedule_kind::cosine;
  CHECK(learning_rate_at(r, 0) == Approx(8));
  CHECK(learning_rate_at(r, 0.5) == Approx(4));
  CHECK(learning_rate_at(r, 1) == Approx(0).margin(1e-12));
  r.schedule = schedule_kind::step;
  CHECK(learning_rate_at(r, 0.49) == Approx(8));
  CHECK(learning_rate_at(r, 0.5) == Approx(0.8));
  CHECK(learning_rate_at(r, 0.75) == Approx(0.08));
}

TEST_CASE("recipe: a warm-up rises to the rate and the schedule has the rest") {
  recipe r{.schedule = schedule_kind::constant, .learning_rate = 8, .warmup = 0.25};
  CHECK(learning_rate_at(r, 0) == Approx(8.0 / 25));
  CHECK(learning_rate_at(r, 0.125) == Approx((8 + 8.0 / 25) / 2));
  CHECK(learning_rate_at(r, 0.25) == Approx(8));
  CHECK(learning_rate_at(r, 0.9) == Approx(8));
  r.schedule = schedule_kind::step;
  CHECK(learning_rate_at(r, 0.6) == Approx(8));
  CHECK(learning_rate_at(r, 0.63) == Approx(0.8));
  r.schedule = schedule_kind::one_cycle;
  CHECK(learning_rate_at(r, 0.25) == Approx(8));
  r.warmup = 0;
  CHECK(learning_rate_at(r, 0) == Approx(8.0 / 25));
  CHECK(learning_rate_at(r, 0.3) == Approx(8));
  CHECK(learning_rate_at(r, 0.65) == Approx(4));
  CHECK(learning_rate_at(r, 1) == Approx(0).margin(1e-12));
}

TEST_CASE("recipe: the rate is positive and at most the rate, whatever the schedule") {
  REQUIRE(rc::check([] {
    const auto share = [] { return *rc::gen::inRange(0, 1000) / 1000.0; };
    const recipe r{.schedule =
                       *rc::gen::element(schedule_kind::constant, schedule_kind::cosine,
                                         schedule_kind::step, schedule_kind::one_cycle),
                   .learning_rate = 0.5,
                   .warmup = share() / 2};
    const double rate = learning_rate_at(r, share());
    RC_ASSERT(rate > 0);
    RC_ASSERT(rate <= 0.5);
  }));
}

TEST_CASE("recipe: optimisers keep as many copies as they say") {
  CHECK(state_copies({.optimiser = optimiser_kind::sgd, .momentum = 0}) == 0);
  CHECK(state_copies({.optimiser = optimiser_kind::sgd, .momentum = 0.9}) == 1);
  CHECK(state_copies({.optimiser = optimiser_kind::adamw}) == 2);
  CHECK(state_copies({.optimiser = optimiser_kind::adamw, .ema = 0.9}) == 3);
  CHECK(state_copies({.optimiser = optimiser_kind::muon}) == 2);
}

TEST_CASE("distributions: who knows one by another name is told its name here") {
  const auto told = [](const std::string& name) {
    const auto valid = validate(distribution_params{.name = name, .devices = 2});
    return valid ? std::string("valid") : valid.error().message;
  };
  CHECK_THAT(told("ddp"), Catch::Contains("is called \"multi_worker_mirrored\" here"));
  CHECK(known_elsewhere_as("FSDP") == "sharded");
  CHECK(known_elsewhere_as("ZeRO-3") == "sharded");
  CHECK(known_elsewhere_as("horovod") == "multi_worker_mirrored");
  CHECK(known_elsewhere_as("tf.distribute.MirroredStrategy") == "mirrored");
  CHECK(known_elsewhere_as("multi-worker-mirrored") == "multi_worker_mirrored");
  CHECK(known_elsewhere_as("ParameterServerStrategy") == "parameter_server");
  CHECK(known_elsewhere_as("morrored").empty());
  for (const auto& row : distribution_rows())
    CHECK(validate(distribution_params{.name = std::string(row.name)}));
}

TEST_CASE("distributions: one that takes a single slot says so") {
  CHECK_THAT(note_on_devices({.name = "mirrored"}, 4),
             Catch::Contains("takes one slot of 4; training.devices = 4 divides it"));
  CHECK(note_on_devices({.name = "mirrored", .devices = 2}, 4).empty());
  CHECK(note_on_devices({}, 4).empty());
}

TEST_CASE("distributions: local_sgd that hardly averages says what to set") {
  const distribution_params three{.name = "local_sgd", .devices = 3};
  CHECK_THAT(note_on_averages(three, 12),
             Catch::Contains("averaged 2 times in it")
                 && Catch::EndsWith("training.average_every = 3 averages them 4 times"));
  CHECK_THAT(note_on_averages(three, 8), Catch::Contains("at its end alone"));
  CHECK(note_on_averages(three, 32).empty());
  CHECK(note_on_averages({.name = "mirrored", .devices = 3}, 12).empty());
}
