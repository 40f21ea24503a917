#include "engine/run/records/test_details.hpp"
#include "engine/training/final/composing.hpp"
#include "engine/training/final/model_bags.hpp"
#include "engine/training/network/data_folds.hpp"
#include "engine/training/weights/weights.hpp"
#include "tests/engine/training/on_cpu.hpp"
#include "tests/engine/training/training_data.hpp"

#include <ATen/ATen.h>
#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <cmath>
#include <set>

using namespace clade;

namespace {

constexpr auto for_the_end = composition_purpose::final_model;

std::set<std::int64_t> indices_of(const at::Tensor& part) {
  const auto* first = part.const_data_ptr<std::int64_t>();
  return {first, first + part.numel()};
}

/// Trains job `id` as fold `index` of `of`, and keeps the weights.
trained_member trained(fitness_function& trainer, candidate_id id, data_fold fold = {},
                       candidate_id bag = 0) {
  auto j = a_job(a_dense_network(), id);
  j.fold = fold;
  j.keep_weights_above = -std::numeric_limits<double>::infinity();
  unheard_progress nobody;
  auto done = trainer.evaluate(j, nobody);
  REQUIRE(done.evaluation.outcome == outcome::succeeded);
  return {.id = id,
          .genome = j.genome,
          .fold = fold,
          .bag = bag == 0 ? id : bag,
          .weights = **done.weights.load()};
}

/// Returns the same of a convolutional network for images.
trained_member trained_on_images(fitness_function& trainer, candidate_id id) {
  auto j = a_job(a_conv_network(), id);
  j.keep_weights_above = -std::numeric_limits<double>::infinity();
  unheard_progress nobody;
  auto done = trainer.evaluate(j, nobody);
  REQUIRE(done.evaluation.outcome == outcome::succeeded);
  return {.id = id, .genome = j.genome, .bag = id, .weights = **done.weights.load()};
}

/// A model that is no genome's, as it was tested.
const examination& compared(const composition& made, const std::string& subject) {
  const auto found = std::ranges::find(made.compared, subject, &examination::subject);
  REQUIRE(found != made.compared.end());
  return *found;
}

/// Series whose steps are as likely up as down.
std::string random_walks_csv(int series, int steps) {
  auto random = derive(7, purpose::sample, 0, 0);
  std::string text = "id,step,value\n";
  for (int s = 0; s < series; ++s) {
    double value = 100;
    for (int i = 0; i < steps; ++i) {
      value += static_cast<double>(random.next() % 2001) / 1000 - 1;
      text += fmt::format("s{},{},{:.3f}\n", s, i, value);
    }
  }
  return text;
}

} // namespace

TEST_CASE("folds: each example that is dealt is left out once, each class is in all") {
  // If there are few examples, both parts are dealt; if there are many, the validation
  // part alone.
  const std::int64_t examples = GENERATE(100, 8000);
  const training_bench bench(separable_csv(static_cast<std::size_t>(examples)));
  const auto data = load_data(bench.setup.data, 1).value();
  const auto all = on_cpu(data);
  auto both = indices_of(all.train);
  both.merge(indices_of(all.validation));
  std::set<std::int64_t> left_out;
  for (std::uint32_t i = 0; i < 4; ++i) {
    const auto fold = data_of_fold(all, {i, 4}, 7);
    auto seen = indices_of(fold.train);
    const auto out = indices_of(fold.validation);
    std::set<std::int64_t> labels;
    for (const auto index : out) {
      CHECK(seen.insert(index).second);
      CHECK(left_out.insert(index).second);
      labels.insert(all.targets[index].item<std::int64_t>());
    }
    CHECK(seen == both);
    CHECK(labels.size() == data.classes.size());
    CHECK(at::equal(fold.test, all.test));
  }
  CHECK(left_out == (examples < few_examples ? both : indices_of(all.validation)));
  CHECK(at::equal(data_of_fold(all, {0, 1}, 7).train, all.train));
}

TEST_CASE("folds: parts that time or groups decide are not mixed") {
  const training_bench bench(separable_csv(100));
  auto data = on_cpu(load_data(bench.setup.data, 1).value());
  CHECK(folds_are_of_both(data));
  data.parts_by_chance = false;
  CHECK_FALSE(folds_are_of_both(data));
  const auto known = indices_of(data.train);
  for (std::uint32_t i = 0; i < 4; ++i)
    for (const auto index : indices_of(data_of_fold(data, {i, 4}, 7).validation))
      CHECK_FALSE(known.contains(index));
}

TEST_CASE("data within bytes: parts too large are thinned out in even steps") {
  const training_bench bench(separable_csv(1000));
  const auto all = on_cpu(load_data(bench.setup.data, 1).value());
  const auto row = all.features.size(1) * 4;
  CHECK(at::equal(data_within(all, 1000 * row).train, all.train));
  const auto some = data_within(all, 150 * row);
  CHECK(some.train.size(0) == 150);
  CHECK(some.train[0].item<std::int64_t>() == all.train[0].item<std::int64_t>());
  CHECK(some.train[75].item<std::int64_t>()
        == all.train[all.train.size(0) / 2].item<std::int64_t>());
  CHECK(some.validation.size(0) == 150);
  CHECK(data_within(all, 1).test.size(0) == 1);
}

TEST_CASE(
    "composing: the final model is no worse than its members on the validation part") {
  const training_bench bench(separable_csv(120));
  const auto trainer = bench.trainer();
  std::vector<trained_member> members{trained(*trainer, 1), trained(*trainer, 2)};
  for (std::uint32_t f = 0; f < 3; ++f)
    members.push_back(trained(*trainer, 3 + f, {f, 3}, 3));
  const auto made = trainer->compose(members, 1, {}, for_the_end);
  REQUIRE(made);
  CHECK(made->model.left_out.empty());
  double shares = 0;
  for (const auto& m : made->model.members)
    shares += m.share;
  CHECK(shares == Approx(1));
  CHECK(made->tested.subject == "final model");
  CHECK(metric_of(made->tested.metrics, "test.accuracy") > 0.9);
  CHECK(metric_of(made->model.metrics, "validation.accuracy") > 0.9);
  REQUIRE(made->tested.details);
  CHECK(made->tested.details->classes.size() == 3);
  CHECK(made->tested.details->evidence);
  CHECK(made->tested.details->reliability);
  const auto again = decode_composition(encode(*made));
  REQUIRE(again);
  CHECK(encode(*again) == encode(*made));
}

TEST_CASE("composing: an interim model is chosen alike and does not ask the test part") {
  const training_bench bench(separable_csv(120));
  const auto trainer = bench.trainer();
  const std::vector<trained_member> members{trained(*trainer, 1), trained(*trainer, 2)};
  const auto final_model = trainer->compose(members, 1, {}, for_the_end);
  const auto interim = trainer->compose(members, 1, {}, composition_purpose::interim);
  REQUIRE(final_model);
  REQUIRE(interim);
  CHECK((interim->model.members == final_model->model.members));
  CHECK(interim->model.temperature == final_model->model.temperature);
  CHECK((interim->model.metrics == final_model->model.metrics));
  CHECK(interim->tested.metrics.empty());
  CHECK_FALSE(interim->tested.details);
  CHECK(interim->compared.empty());
  const auto again = decode_composition(encode(*interim));
  REQUIRE(again);
  CHECK(encode(*again) == encode(*interim));
}

TEST_CASE("composing: the first model has its time, but not for an interim one") {
  const training_bench bench(separable_csv(120));
  const std::vector<trained_member> members{trained(*bench.trainer(), 1)};
  training_context context(bench.setup, 1);
  REQUIRE(context.load());
  const auto gathered = [&](composition_purpose purpose) {
    const auto used = model_gathering::clock::now() - std::chrono::seconds(1);
    model_gathering models(context, 1, used, purpose);
    models.add({&members.front()});
    return std::pair(models.bags.size(), models.left_out);
  };
  CHECK(gathered(for_the_end).first == 1);
  const auto [bags, left_out] = gathered(composition_purpose::interim);
  CHECK(bags == 0);
  CHECK(left_out == std::vector<std::string>{"#1: there was no time left to ask it"});
}

TEST_CASE("composing: networks that were trained with mirrored images see both sides") {
  training_bench bench(halves_csv(120));
  bench.setup.data.shape = {{1, 6, 6}};
  bench.setup.space.input = layout::image;
  bench.setup.training.flip = GENERATE(false, true);
  const std::vector<trained_member> members{trained_on_images(*bench.trainer(), 1)};
  training_context context(bench.setup, 1);
  REQUIRE(context.load());
  model_gathering models(context, 1, model_gathering::clock::time_point::max(),
                         for_the_end);
  models.add({&members.front()});
  REQUIRE(models.bags.size() == 1);
  const auto& bag = models.bags.front();
  // A bright half is as bright from the other side, so that it is not behind.
  CHECK(bag.mirrored == bench.setup.training.flip);
  CHECK(bag.costs.parameters < 1000);
  const auto x = at::rand({5, 1, 6, 6});
  CHECK(at::allclose(bag.models[0](x), bag.models[0](x.flip(3)), 1e-4, 1e-4)
        == bag.mirrored);
  const auto made = bench.trainer()->compose(members, 1, {}, for_the_end);
  REQUIRE(made);
  for (const auto& m : made->model.members)
    CHECK(m.mirrored.value_or(false) == (bag.mirrored && m.id == 1));
  for (const auto& wrong : made->tested.details->evidence->classes)
    CHECK(wrong.occlusion.value_or(std::vector<double>()).size() == 49);
}

TEST_CASE("composing: all models are ranked, and the columns that matter are found") {
  const training_bench bench(separable_csv(120));
  const auto trainer = bench.trainer();
  std::vector<trained_member> members{trained(*trainer, 1)};
  for (std::uint32_t f = 0; f < 3; ++f)
    members.push_back(trained(*trainer, 2 + f, {f, 3}, 2));
  const auto made = trainer->compose(members, 1, {}, for_the_end);
  REQUIRE(made);
  REQUIRE(made->model.models);
  const auto& all = *made->model.models;
  std::set<std::string> names;
  double shares = 0, before = 1;
  for (const auto& m : all) {
    names.insert(m.subject);
    shares += m.share;
    // The network of the search knows the train part, and comes last.
    const bool by_both = m.subject != "#1";
    CHECK(find(m.metrics, "cross_validation.accuracy").has_value() == by_both);
    CHECK(find(m.metrics, "validation.accuracy").has_value());
    if (by_both) {
      const double accuracy = metric_of(m.metrics, "cross_validation.accuracy");
      CHECK(accuracy <= before);
      before = accuracy;
    }
  }
  CHECK(all.back().subject == "#1");
  CHECK(find(made->model.metrics, "cross_validation.accuracy").has_value());
  CHECK(names
        == std::set<std::string>{"#1", "the folds of #2", "the linear model",
                                 "boosted trees"});
  CHECK(shares == Approx(1));
  // Each of the two columns tells of one class.
  const auto& columns = made->tested.details->columns;
  REQUIRE(columns);
  CHECK(columns->metric == "validation.accuracy");
  REQUIRE(columns->columns.size() == 2);
  for (const auto& c : columns->columns) {
    CHECK(c.worse > 0.1);
    CHECK(c.low > 0);
  }
}

TEST_CASE("composing: a final model that makes no error is not sure of it") {
  const training_bench bench(separable_csv(120));
  const auto trainer = bench.trainer();
  const auto made = trainer->compose({{trained(*trainer, 1)}}, 1, {}, for_the_end);
  REQUIRE(made);
  const auto data = load_data(bench.setup.data, 1).value();
  const auto examples = data.train.size() + data.validation.size();
  REQUIRE(made->model.least);
  CHECK(*made->model.least > 1 / (static_cast<double>(examples) + 2));
  // Each of three classes has so much; the likeliest at most the rest.
  const double most = 1 - 2 * *made->model.least;
  CHECK(metric_of(made->model.metrics, "validation.loss") >= -std::log(most) - 1e-6);
  CHECK(metric_of(made->tested.metrics, "test.loss") >= -std::log(most) - 1e-6);
}

TEST_CASE(
    "composing: the final model keeps to the run's constraints where a model does") {
  training_bench bench(separable_csv(120));
  std::vector<trained_member> members;
  {
    const auto trainer = bench.trainer();
    for (candidate_id id = 1; id <= 3; ++id)
      members.push_back(trained(*trainer, id));
  }
  // That of the linear model, of two columns and three classes.
  bench.setup.goal.constraints = {{.metric = "parameters", .limit = 9}};
  const auto made = bench.trainer()->compose(members, 1, {}, for_the_end);
  REQUIRE(made);
  CHECK(made->tested.parameters <= 9);
  REQUIRE(made->model.members.size() == 1);
  CHECK(made->model.members.front().id == 0);
}

TEST_CASE("composing: without time there is the first model, and others are named") {
  const training_bench bench(separable_csv(4000));
  const auto trainer = bench.trainer();
  const std::vector<trained_member> members{trained(*trainer, 1), trained(*trainer, 2),
                                            trained(*trainer, 3)};
  const auto made =
      trainer->compose(members, 1, {.time = std::chrono::milliseconds(1)}, for_the_end);
  REQUIRE(made);
  REQUIRE(made->model.members.size() == 1);
  CHECK(made->model.members.front().id == 1);
  CHECK(made->model.left_out.size() >= 3);
  CHECK(made->model.left_out[0] == "#2: there was no time left to ask it");
}

TEST_CASE("composing: damaged weights and missing folds are left out and named") {
  training_bench bench(plane_csv(80));
  bench.setup.data.task = regression;
  bench.setup.goal = {.metric = "validation.rmse", .maximize = false};
  const auto trainer = bench.trainer();
  std::vector<trained_member> members{trained(*trainer, 1), trained(*trainer, 2),
                                      trained(*trainer, 3, {0, 2}, 3)};
  members[1].weights[members[1].weights.size() / 2] ^= 1;
  const auto made = trainer->compose(members, 1, {}, for_the_end);
  REQUIRE(made);
  REQUIRE(made->model.left_out.size() == 2);
  CHECK(made->model.left_out[0].starts_with("#3: not all folds"));
  CHECK(made->model.left_out[1].starts_with("#2: "));
  // y = 100 + 30 a - 20 b is what the linear model says.
  CHECK(metric_of(made->tested.metrics, "test.rmse") < 0.1);
  CHECK(made->fitted_weights != "");
  CHECK(metric_of(compared(*made, "boosted trees").metrics, "test.rmse") > 0.1);
  const auto& evidence = made->tested.details->evidence;
  REQUIRE(evidence);
  REQUIRE(evidence->interval);
  CHECK(evidence->interval->metric == "test.rmse");
  CHECK(evidence->interval->low <= evidence->interval->high);
  CHECK(evidence->values.size() == test_evidence::most_wrong_examples);
}

TEST_CASE("composing: boosted trees are a member where they know most") {
  training_bench bench(chequered_csv(600));
  const auto trainer = bench.trainer();
  std::vector<trained_member> members;
  for (std::uint32_t f = 0; f < 2; ++f)
    members.push_back(trained(*trainer, 1 + f, {f, 2}, 1));
  const auto made = trainer->compose(members, 1, {}, for_the_end);
  REQUIRE(made);
  CHECK(made->model.left_out.empty());
  CHECK(metric_of(compared(*made, "boosted trees").metrics, "test.accuracy") > 0.9);
  const auto& all = made->model.members;
  const auto trees =
      std::ranges::find_if(all, [](const auto& m) { return m.trees.has_value(); });
  REQUIRE(trees != all.end());
  CHECK(trees->id == 0);
  CHECK(trees->share > 0.5);
  for (const auto& m : all)
    CHECK((m.temperature == 1 || m.id != 0));
  const auto weights = decode_weights(made->fitted_weights);
  REQUIRE(weights);
  const auto leaves = std::ranges::find(*weights, "trees.leaves", &weight_tensor::name);
  REQUIRE(leaves != weights->end());
  CHECK(leaves->shape
        == std::vector{trees->trees->trees, std::int64_t{1} << trees->trees->depth});
  const auto again = decode_composition(encode(*made));
  REQUIRE(again);
  CHECK(encode(*again) == encode(*made));
}

TEST_CASE("composing: random convolutions are a member where sequences are told apart") {
  training_bench bench(waves_csv(160));
  bench.setup.data.shape = {{24, 1}};
  bench.setup.space.input = layout::sequence;
  const auto trainer = bench.trainer();
  const std::vector<trained_member> members{trained(*trainer, 1)};
  const auto made = trainer->compose(members, 1, {}, for_the_end);
  INFO((made ? "" : made.error().message));
  REQUIRE(made);
  CHECK(made->model.left_out.empty());
  CHECK(made->compared.size() == 2);
  CHECK(metric_of(compared(*made, "random convolutions").metrics, "test.accuracy") > 0.9);
  const auto& all = made->model.members;
  const auto one =
      std::ranges::find_if(all, [](const auto& m) { return m.convolutions.has_value(); });
  REQUIRE(one != all.end());
  CHECK(one->id == 0);
  CHECK(one->share > 0.5);
  const auto weights = decode_weights(made->fitted_weights);
  REQUIRE(weights);
  const auto thresholds =
      std::ranges::find(*weights, "convolutions.thresholds", &weight_tensor::name);
  REQUIRE(thresholds != weights->end());
  CHECK(thresholds->shape
        == std::vector{2 * one->convolutions->dilations, threshold_kernels,
                       one->convolutions->thresholds});
  const auto again = decode_composition(encode(*made));
  REQUIRE(again);
  CHECK(encode(*again) == encode(*made));
  const auto interim = trainer->compose(members, 1, {}, composition_purpose::interim);
  REQUIRE(interim);
  CHECK((interim->model.members == made->model.members));
  CHECK(interim->compared.empty());
}

TEST_CASE("composing: forecasts stand beside what they count from") {
  // The last value is the best guess: nothing is learnt of a random walk.
  training_bench bench(random_walks_csv(6, 60));
  bench.setup.data = {.file = bench.setup.data.file,
                      .target = "value",
                      .task = regression,
                      .forecast = {.horizon = 3, .time = "step", .series = {"id"}}};
  bench.setup.goal = {.metric = "validation.mae", .maximize = false};
  const auto trainer = bench.trainer();
  const std::vector<trained_member> members{trained(*trainer, 1)};
  const auto made = trainer->compose(members, 1, {}, for_the_end);
  INFO((made ? "" : made.error().message));
  REQUIRE(made);
  // Windows beside each other tell too much of each other: no folds are made of them.
  for (const auto& m : *made->model.models)
    for (const auto& metric : m.metrics)
      CHECK(metric.name.starts_with("validation."));
  const auto& smoothing = compared(*made, "exponential smoothing");
  const auto& naive = compared(*made, "seasonal naive");
  CHECK(metric_of(naive.metrics, "test.mae") > 0);
  const auto& all = *made->model.models;
  const auto row =
      std::ranges::find(all, "exponential smoothing", &ranked_model::subject);
  REQUIRE(row != all.end());
  CHECK(metric_of(row->metrics, "validation.mae")
        == Approx(metric_of(smoothing.metrics, "validation.mae")).epsilon(1e-4));
  // Nothing is learnt of a random walk that one epoch of a network would know better.
  CHECK(row->share > 0);
  const auto weights = decode_weights(made->fitted_weights);
  REQUIRE(weights);
  CHECK(std::ranges::find(*weights, "smoothing.output.bias", &weight_tensor::name)
        != weights->end());
  const auto& details = *made->tested.details;
  REQUIRE(details.forecasts);
  CHECK(details.forecasts->size() == 6);
  CHECK(details.forecasts->front().steps.size() == 3);
  CHECK(metric_of(details.metrics, "test.mase")
        == Approx(metric_of(details.metrics, "test.mae")));
  CHECK(metric_of(details.metrics, "test.smape") < 2);
  const auto again = decode_composition(encode(*made));
  REQUIRE(again);
  CHECK(encode(*again) == encode(*made));
}

TEST_CASE("composing: members come back as they were sent, and garbage does not") {
  const std::vector<trained_member> members{
      {.id = 3, .genome = a_dense_network(), .fold = {1, 4}, .bag = 2, .weights = "abc"}};
  const auto sent = encode(members);
  const auto again = decode_members(sent);
  REQUIRE(again);
  CHECK(encode(*again) == sent);
  for (std::size_t i = 0; i < sent.size(); ++i)
    CHECK_FALSE(decode_members(std::string_view(sent).substr(0, i)));
}
