// Trainings of teams, whose members are threads here.
#include "tests/engine/training/team_of_threads.hpp"
#include "tests/engine/training/training_data.hpp"
#include "tests/support/genomes.hpp"

#include <catch2/catch.hpp>
#include <rapidcheck.h>

using namespace clade;

namespace {

struct team_bench : training_bench {
  team_bench() : training_bench(halves_csv(120)) {
    setup.data.shape = {{1, 6, 6}};
    setup.space.input = layout::image;
    setup.training.batch_size = 6;
    setup.training.patience = 0;
  }
  void share(const std::string& name, std::uint32_t devices) {
    setup.training.distribution.name = name;
    setup.training.distribution.devices = devices;
  }
};

job a_team_job() {
  auto g = a_conv_network(); // It has dropout, and normalisation.
  assign(g.hyperparameters, "ema", 0.9);
  auto j = a_job(std::move(g));
  j.budget = {.epochs = 3, .horizon = 3};
  j.keep_checkpoint = checkpointing::whole;
  return j;
}

evaluated_job trained_alone(const team_bench& bench, const job& j) {
  listener ear;
  auto done = bench.trainer()->evaluate(j, ear);
  INFO(done.evaluation.reason);
  REQUIRE(done.evaluation.outcome == outcome::succeeded);
  return done;
}

std::vector<evaluated_job> trained_by_team(const team_bench& bench, std::size_t shares,
                                           std::vector<test::formation> formations,
                                           const job& j) {
  return test::team_of_threads::train(
      shares, std::move(formations), [&] { return bench.trainer(); }, j);
}

/// How many members ended well, each with what is expected.
std::size_t check_successes(const std::vector<evaluated_job>& all,
                            const evaluated_job& expected) {
  std::size_t successes = 0;
  for (const auto& one : all) {
    INFO(one.evaluation.reason);
    if (one.evaluation.outcome != outcome::succeeded)
      continue;
    ++successes;
    CHECK(one.checkpoint == expected.checkpoint);
    CHECK((one.evaluation.metrics == expected.evaluation.metrics));
  }
  return successes;
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

// Members are lost and come at any moment: the weights do not tell.
TEST_CASE("team: whoever is lost or comes, the bits stay the same") {
  team_bench bench;
  const auto j = a_team_job();
  bench.share("multi_worker_mirrored", 3);
  const auto undisturbed = trained_alone(bench, j);
  CHECK(rc::check([&] {
    std::vector<test::formation> formations;
    const auto changes = *rc::gen::inRange<std::size_t>(1, 6);
    for (std::size_t i = 0; i < changes; ++i)
      formations.push_back({.members = *rc::gen::inRange(1U, 8U),
                            .exchanges = *rc::gen::inRange<std::size_t>(1, 25)});
    const auto all = trained_by_team(bench, 3, formations, j);
    RC_ASSERT(check_successes(all, undisturbed) > 0);
  }));
}
