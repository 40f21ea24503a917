// Trainings of teams, whose members are threads here.
#include "tests/engine/training/team_bench.hpp"
#include "tests/support/genomes.hpp"

#include <catch2/catch.hpp>
#include <rapidcheck.h>

#include <cstdlib>
#include <string>

using namespace clade;

namespace {

node_gene a_conv(const char* norm) {
  return {{}, "conv", {{"filters", std::int64_t{4}}, {"norm", std::string(norm)}}};
}

/// Skips past one layer and past all, residual branches, dropout, and normalisation.
genome a_network_with_skips() {
  auto g = test::a_chain({a_conv("batch"),
                          a_conv("none"),
                          {{}, "residual", {{"filters", std::int64_t{4}}}},
                          {{}, "dropout", {{"rate", 0.3}}},
                          a_conv("layer")});
  g.edges.push_back(test::an_edge(innovation{2}, innovation{4}));
  g.edges.push_back(test::an_edge(innovation{2}, output_innovation));
  g.hyperparameters = {
      {"learning_rate", 0.01}, {"shift", std::int64_t{1}}, {"stochastic_depth", 0.3}};
  return test::sorted(std::move(g));
}

job a_job_of_epochs(genome g, std::uint32_t epochs) {
  auto j = a_job(std::move(g));
  j.budget = {.epochs = epochs, .horizon = 8};
  j.keep_checkpoint = checkpointing::whole;
  return j;
}

} // namespace

TEST_CASE("team: whoever does the shares, it is mirrored, bit for bit") {
  team_bench bench;
  const auto j = a_team_job();
  for (const std::uint32_t shares : {2U, 3U}) {
    bench.share("mirrored", shares);
    const auto mirrored = trained_alone(bench, j);
    bench.share("multi_worker_mirrored", shares);
    CHECK(trained_alone(bench, j).checkpoint == mirrored.checkpoint);
    for (std::uint32_t members = 3; members < (1U << shares); ++members) {
      INFO("members " << members << " of " << shares << " shares");
      const auto all = trained_by_team(bench, shares, {{.members = members}}, j);
      CHECK(check_successes(all, mirrored) > 0);
    }
  }
}

TEST_CASE("team: over Gloo it has the same bits, whoever is lost or comes") {
  team_bench bench;
  const auto j = a_team_job();
  bench.share("mirrored", 3);
  const auto mirrored = trained_alone(bench, j);
  bench.setup.training.distribution.collectives = {.backend = "gloo",
                                                   .network = "127.0.0.0/8"};
  for (const auto* name : {"multi_worker_mirrored", "sharded", "parameter_server"}) {
    INFO(name);
    bench.share(name, 3);
    const auto all = trained_by_team(bench, 3,
                                     {{.members = 0b111, .exchanges = 9},
                                      {.members = 0b011, .exchanges = 7},
                                      {.members = 0b111}},
                                     j);
    CHECK(check_successes(all, mirrored) > 0);
  }
}

TEST_CASE("team: over Gloo a pipeline and peers train as over other links") {
  team_bench bench;
  bench.setup.training.batch_size = 12;
  bench.setup.training.distribution.micro_batches = 3;
  const auto by_gloo = [&](const std::string& name, const job& j) {
    bench.share(name, 2);
    auto& collectives = bench.setup.training.distribution.collectives;
    collectives = {.backend = "gloo", .network = "127.0.0.0/8"};
    const auto all = trained_by_team(bench, 2, {{.members = 0b11}}, j);
    collectives = {};
    return all;
  };
  const auto long_job = a_job_of_epochs(a_network_with_skips(), 3);
  const auto staged = by_gloo("pipeline", long_job);
  CHECK(check_successes(staged, trained_alone(bench, long_job)) > 0);
  auto j = a_team_job();
  const auto peers = by_gloo("peer_to_peer", j);
  const auto done = std::ranges::find_if(peers, [](const evaluated_job& one) {
    return one.evaluation.outcome == outcome::succeeded;
  });
  REQUIRE(done != peers.end());
  const auto& log = done->evaluation.updates;
  REQUIRE(log);
  j.updates.assign(log->begin(), log->end());
  CHECK(trained_alone(bench, j).checkpoint == done->checkpoint);
}

TEST_CASE("team: sharded is mirrored, bit for bit, whoever has the shards") {
  team_bench bench;
  for (const std::uint32_t shares : {2U, 3U, 4U})
    for (const auto* optimiser : {"sgd", "adam", "adamw"}) {
      INFO(optimiser << ", " << shares);
      auto j = a_job_of_epochs(a_network_with_skips(), 3);
      assign(j.genome.hyperparameters, "ema", 0.9);
      assign(j.genome.hyperparameters, "optimiser", optimiser);
      bench.setup.training.gradient_clip = 0.5;
      bench.share("mirrored", shares);
      const auto mirrored = trained_alone(bench, j);
      bench.share("sharded", shares);
      CHECK(trained_alone(bench, j).checkpoint == mirrored.checkpoint);
      for (const auto members : {(1U << shares) - 1, 3U}) {
        const auto all = trained_by_team(bench, shares, {{.members = members}}, j);
        CHECK(check_successes(all, mirrored) > 0);
      }
    }
}

TEST_CASE("team: a pipeline has the same bits by any schedule and with any members") {
  team_bench bench;
  bench.setup.training.batch_size = 12;
  bench.setup.training.gradient_clip = 0.5;
  bench.setup.training.distribution.micro_batches = 3;
  auto j = a_job_of_epochs(a_network_with_skips(), 3);
  assign(j.genome.hyperparameters, "ema", 0.9);
  for (const std::uint32_t stages : {2U, 4U}) {
    INFO(stages << " stages");
    bench.share("pipeline", stages);
    bench.setup.training.distribution.stage_schedule = "1f1b";
    const auto alone = trained_alone(bench, j);
    for (const auto* schedule : {"gpipe", "1f1b"}) {
      INFO(schedule);
      bench.setup.training.distribution.stage_schedule = schedule;
      CHECK(trained_alone(bench, j).checkpoint == alone.checkpoint);
      for (const auto members : {(1U << stages) - 1, 3U}) {
        const auto all = trained_by_team(bench, stages, {{.members = members}}, j);
        CHECK(check_successes(all, alone) > 0);
      }
    }
  }
}

TEST_CASE("team: a pipeline is one device with the same batch, but for rounding") {
  team_bench bench;
  bench.setup.training.batch_size = 12;
  // Without what draws, or measures, by the batch.
  auto g = test::a_chain({a_conv("layer"), a_conv("none"), a_conv("none")});
  g.edges.push_back(test::an_edge(innovation{2}, innovation{4}));
  g.edges.push_back(test::an_edge(innovation{2}, output_innovation));
  g = test::sorted(std::move(g));
  assign(g.hyperparameters, "learning_rate", 0.01);
  assign(g.hyperparameters, "mixup", 0.3);
  assign(g.hyperparameters, "gradient_clip", 0.5);
  const auto j = a_job_of_epochs(g, 3);
  const auto one = trained_alone(bench, j);
  bench.share("pipeline", 3);
  const auto three = trained_alone(bench, j);
  REQUIRE(three.evaluation.curve.size() == one.evaluation.curve.size());
  for (std::size_t i = 0; i < one.evaluation.curve.size(); ++i)
    for (const auto* name : {"train.loss", "validation.loss"})
      CHECK(metric_of(three.evaluation.curve[i].metrics, name)
            == Approx(metric_of(one.evaluation.curve[i].metrics, name)).epsilon(1e-4));
}

TEST_CASE("team: local_sgd learns, and otherwise than mirrored") {
  team_bench bench;
  const auto j = a_job_of_epochs(a_conv_network(), 8);
  bench.share("mirrored", 2);
  const auto mirrored = trained_alone(bench, j);
  bench.share("local_sgd", 2);
  const auto local = trained_alone(bench, j);
  CHECK(local.evaluation.weights_hash != mirrored.evaluation.weights_hash);
  CHECK(metric_of(local.evaluation.metrics, "validation.accuracy") > 0.9);
  // One average after each step of plain gradient descent is a step of all together.
  bench.setup.training.distribution.average_every = 1;
  auto plain = a_team_job();
  plain.budget.epochs = 1;
  assign(plain.genome.hyperparameters, "optimiser", "sgd");
  assign(plain.genome.hyperparameters, "momentum", 0.0);
  const auto averaged = trained_alone(bench, plain);
  bench.share("mirrored", 2);
  bench.setup.training.distribution.scale_learning_rate = false;
  const auto together = trained_alone(bench, plain);
  CHECK(metric_of(averaged.evaluation.curve[0].metrics, "train.loss")
        == Approx(metric_of(together.evaluation.curve[0].metrics, "train.loss"))
               .epsilon(1e-3));
}

TEST_CASE("team: each goes on bit for bit") {
  team_bench bench;
  bench.setup.training.batch_size = 12;
  bench.setup.training.distribution.average_every = 3;
  for (const auto* name : {"local_sgd", "sharded", "pipeline"}) {
    INFO(name);
    bench.share(name, 2);
    auto g = a_network_with_skips();
    assign(g.hyperparameters, "ema", 0.9);
    const auto first = a_job_of_epochs(g, 3);
    auto more = a_job_of_epochs(g, 6);
    more.id = 9;
    more.start = first.id;
    more.start_epoch = 3;
    more.checkpoint = trained_alone(bench, first).checkpoint;
    const auto whole = trained_alone(bench, a_job_of_epochs(g, 6));
    CHECK(trained_alone(bench, more).checkpoint == whole.checkpoint);
    const auto all = trained_by_team(bench, 2, {{.members = 3}}, more);
    CHECK(check_successes(all, whole) > 0);
  }
}

TEST_CASE(
    "team: where the disk takes no position the machine failed, not the candidate") {
  team_bench bench;
  bench.share("sharded", 2);
  const auto j = a_team_job();
  const char* before = std::getenv("TMPDIR");
  const std::string former = before == nullptr ? "/tmp" : before;
  // The folder is one in which nobody can make a file.
  REQUIRE(::setenv("TMPDIR", "/proc", 1) == 0);
  listener ear;
  const auto done = bench.trainer()->evaluate(j, ear);
  REQUIRE(::setenv("TMPDIR", former.c_str(), 1) == 0);
  CHECK(done.machine_failed);
  CHECK(done.evaluation.outcome == outcome::invalid);
  CHECK_THAT(
      done.evaluation.reason,
      Catch::Matchers::Contains("the position of the training cannot be written on ")
          && Catch::Matchers::Contains("in the file system of /proc: "));
  CHECK_FALSE(bench.trainer()->evaluate(j, ear).machine_failed);
}

TEST_CASE("team: a pipeline that cannot be is refused with what can") {
  team_bench bench;
  const auto reason = [&] {
    listener ear;
    const auto done =
        bench.trainer()->evaluate(a_job_of_epochs(a_conv_network(), 2), ear);
    CHECK(done.evaluation.outcome == outcome::invalid);
    return done.evaluation.reason;
  };
  bench.setup.training.batch_size = 12;
  bench.share("pipeline", 20);
  CHECK(reason().ends_with("at most one device for each"));
  bench.share("pipeline", 2);
  bench.setup.training.distribution.micro_batches = 12;
  CHECK(reason().ends_with("training.micro_batches = 6 fits"));
}

// The second of two members is lost and comes back; then the first is lost, so that only
// a second one that the first has taken in can end the training.
TEST_CASE("team: a member that is left alone takes in who comes back") {
  team_bench bench;
  bench.setup.training.distribution.micro_batches = 2;
  bench.setup.training.distribution.average_every = 2;
  auto j = a_team_job();
  j.budget = {.epochs = 6, .horizon = 6};
  const auto check = [&](const std::string& name) {
    bench.share(name, 2);
    const auto& d = bench.setup.training.distribution;
    INFO(name << ", " << d.collectives.backend);
    const auto all = trained_by_team(bench, 2,
                                     {{.members = 0b11, .exchanges = 4},
                                      {.members = 0b01, .exchanges = 3},
                                      {.members = 0b11, .exchanges = 4},
                                      {.members = 0b10}},
                                     j);
    CHECK(all[0].evaluation.outcome != outcome::succeeded);
    INFO(all[1].evaluation.reason);
    REQUIRE(all[1].evaluation.outcome == outcome::succeeded);
    if (d.synchronous() || name == "local_sgd")
      CHECK(all[1].checkpoint == trained_alone(bench, j).checkpoint);
  };
  for (const auto* name : {"multi_worker_mirrored", "local_sgd", "sharded", "pipeline",
                           "parameter_server", "peer_to_peer"})
    check(name);
  bench.setup.training.distribution.updates = update_rule::asynchronous;
  check("parameter_server");
  bench.setup.training.distribution.updates = update_rule::automatic;
  bench.setup.training.distribution.collectives = {.backend = "gloo",
                                                   .network = "127.0.0.0/8"};
  check("multi_worker_mirrored");
}

// Members are lost and come at any moment: the weights do not tell.
TEST_CASE("team: whoever is lost or comes, the bits stay the same") {
  team_bench bench;
  bench.setup.training.distribution.micro_batches = 2;
  const auto j = a_team_job();
  bench.setup.training.distribution.average_every = 2; // An epoch has an odd rest.
  for (const auto* name : {"multi_worker_mirrored", "local_sgd", "sharded", "pipeline"}) {
    INFO(name);
    bench.share(name, 3);
    const auto undisturbed = trained_alone(bench, j);
    CHECK(rc::check([&] {
      const auto all = trained_by_team(bench, 3, some_formations(3, 50), j);
      RC_ASSERT(check_successes(all, undisturbed) > 0);
    }));
  }
}
