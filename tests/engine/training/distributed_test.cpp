// Trainings that several replicas share, with LibTorch.
#include "engine/training/final/training_context.hpp"
#include "engine/training/parallel/common/distributed_training.hpp"
#include "engine/training/parallel/common/ordered_sum.hpp"
#include "engine/training/parallel/replica/thread_team.hpp"
#include "tests/engine/training/team_bench.hpp"
#include "tests/support/genomes.hpp"

#include <ATen/ATen.h>
#include <catch2/catch.hpp>
#include <rapidcheck.h>

#include <array>
#include <atomic>

using namespace clade;

namespace {

job of_epochs_job(genome g, std::uint32_t epochs) {
  auto j = a_job(std::move(g));
  j.budget = {.epochs = epochs, .horizon = 8};
  j.keep_checkpoint = checkpointing::whole;
  return j;
}

/// One without dropout, whose result no device draws for.
genome a_plain_network() {
  auto g = test::a_chain({{{}, "conv", {{"filters", std::int64_t{4}}}}});
  g.hyperparameters = {{"learning_rate", 0.01}};
  return g;
}

} // namespace

TEST_CASE(
    "distributed: the same k gives the same bits, mirrored and in central storage") {
  team_bench bench;
  const auto g = GENERATE(a_plain_network(), a_conv_network()); // It has dropout.
  for (const auto* optimiser : {"sgd", "adamw"})
    for (const std::uint32_t devices : {2U, 3U}) {
      INFO(optimiser << ", " << devices);
      auto j = of_epochs_job(g, 4);
      assign(j.genome.hyperparameters, "optimiser", optimiser);
      bench.share("mirrored", devices);
      const auto once = trained_alone(bench, j), again = trained_alone(bench, j);
      CHECK(once.evaluation.weights_hash == again.evaluation.weights_hash);
      CHECK((once.evaluation.metrics == again.evaluation.metrics));
      bench.share("central_storage", devices);
      const auto central = trained_alone(bench, j);
      CHECK(central.evaluation.weights_hash == once.evaluation.weights_hash);
      CHECK((central.evaluation.metrics == once.evaluation.metrics));
    }
}

TEST_CASE("distributed: k devices with a batch b are one device with k times b") {
  team_bench bench;
  bench.setup.training.distribution.scale_learning_rate = false;
  auto j = of_epochs_job(a_plain_network(), 3);
  if (GENERATE(false, true)) {
    bench.setup.training.class_weights.balanced = true;
    assign(j.genome.hyperparameters, "mixup", 0.3);
    assign(j.genome.hyperparameters, "label_smoothing", 0.1);
  }
  bench.setup.training.batch_size = 12;
  const auto one = trained_alone(bench, j);
  bench.setup.training.batch_size = 4;
  bench.share("mirrored", 3);
  const auto three = trained_alone(bench, j);
  REQUIRE(three.evaluation.curve.size() == one.evaluation.curve.size());
  for (std::size_t i = 0; i < one.evaluation.curve.size(); ++i)
    for (const auto* name : {"train.loss", "validation.loss"})
      CHECK(metric_of(three.evaluation.curve[i].metrics, name)
            == Approx(metric_of(one.evaluation.curve[i].metrics, name)).epsilon(1e-4));
}

TEST_CASE("distributed: each goes on bit for bit") {
  team_bench bench;
  for (const auto* name : {"mirrored", "central_storage"}) {
    INFO(name);
    bench.share(name, 2);
    auto g = a_conv_network();
    assign(g.hyperparameters, "ema", 0.9);
    const auto first = of_epochs_job(g, 3);
    auto more = of_epochs_job(g, 6);
    more.id = 9;
    more.start = first.id;
    more.start_epoch = 3;
    more.checkpoint = trained_alone(bench, first).checkpoint;
    CHECK(trained_alone(bench, more).checkpoint
          == trained_alone(bench, of_epochs_job(g, 6)).checkpoint);
  }
}

TEST_CASE("distributed: each row that divides a training has its steps, and no other") {
  for (const auto& row : distribution_rows()) {
    INFO(row.name);
    CHECK(std::ranges::count(distributed_steps, row.name, &steps_row::name)
          == (row.divides ? 1 : 0));
  }
  for (const auto& steps : distributed_steps)
    CHECK(find_distribution(steps.name) != nullptr);
}

TEST_CASE("distributed: a batch that is too small for its devices is refused") {
  team_bench bench;
  bench.setup.training.batch_size = 1;
  bench.share("mirrored", 4);
  listener ear;
  const auto done = bench.trainer()->evaluate(of_epochs_job(a_plain_network(), 2), ear);
  CHECK(done.evaluation.outcome == outcome::invalid);
  CHECK(done.evaluation.reason.find("too small for 4 devices") != std::string::npos);
}

TEST_CASE(
    "ordered sum: it is that of a ring, for any shapes and any number of replicas") {
  CHECK(rc::check([](std::vector<std::uint8_t> sizes, std::uint8_t some) {
    const std::size_t count = some % 7 + 1;
    std::vector<tensor_list> replicas(count);
    std::vector<std::vector<double>> values(count);
    for (std::size_t r = 0; r < count; ++r)
      for (const auto size : sizes) {
        replicas[r].push_back(at::rand({size, 3}, at::kDouble));
        const auto* v = replicas[r].back().const_data_ptr<double>();
        values[r].insert(values[r].end(), v, v + replicas[r].back().numel());
      }
    const auto all = values.front().size();
    for (std::size_t part = 0; part < count; ++part)
      add_up_part(replicas, count, part);
    for (std::size_t i = 0, tensor = 0, at = 0; i < all; ++i, ++at) {
      while (at == static_cast<std::size_t>(replicas[0][tensor].numel()))
        at = 0, ++tensor;
      std::size_t chunk = 0;
      while (i >= all * (chunk + 1) / count)
        ++chunk;
      double sum = values[chunk][i];
      for (std::size_t r = 1; r < count; ++r)
        sum += values[(chunk + r) % count][i];
      for (std::size_t r = 0; r < count; ++r)
        RC_ASSERT(replicas[r][tensor].const_data_ptr<double>()[at] == sum);
    }
  }));
}

TEST_CASE("thread team: each part runs once, and a failure of one is thrown on") {
  std::atomic<int> prepared = 0;
  thread_team team(4, [&] { ++prepared; });
  std::array<std::atomic<int>, 4> ran{};
  for (int i = 0; i < 1000; ++i)
    team.run([&](std::size_t part) { ++ran[part]; });
  for (const auto& r : ran)
    CHECK(r == 1000);
  CHECK(prepared == 3);
  CHECK_THROWS_WITH(team.run([](std::size_t part) {
    if (part >= 2)
      throw std::runtime_error("part " + std::to_string(part));
  }),
                    "part 2");
  team.run([&](std::size_t part) { ++ran[part]; });
  CHECK(ran[3] == 1001);
}
