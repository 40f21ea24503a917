#include "tests/engine/training/team_bench.hpp"

#include "tests/support/genomes.hpp"

#include <catch2/catch.hpp>
#include <rapidcheck.h>

namespace clade {

team_bench::team_bench() : training_bench(halves_csv(120)) {
  setup.data.shape = {{1, 6, 6}};
  setup.space.input = layout::image;
  setup.training.batch_size = 6;
  setup.training.patience = 0;
}

void team_bench::share(const std::string& name, std::uint32_t devices) {
  auto& d = setup.training.distribution;
  d.name = name;
  d.devices = devices;
  d.servers = d.workers = 0;
}

void team_bench::serve(std::uint32_t servers, std::uint32_t workers) {
  share("parameter_server", servers + workers);
  setup.training.distribution.servers = servers;
  setup.training.distribution.workers = workers;
}

job a_team_job() {
  auto g = a_conv_network();
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

std::vector<evaluated_job> trained_by_team(const team_bench& bench, std::size_t slots,
                                           std::vector<test::formation> formations,
                                           const job& j) {
  return test::team_of_threads::train(
      slots, std::move(formations), [&] { return bench.trainer(); }, j);
}

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

std::vector<test::formation> some_formations(std::size_t slots, std::size_t exchanges) {
  std::vector<test::formation> formations;
  const auto changes = *rc::gen::inRange<std::size_t>(1, 6);
  for (std::size_t i = 0; i < changes; ++i)
    formations.push_back({.members = *rc::gen::inRange(1U, 1U << slots),
                          .exchanges = *rc::gen::inRange<std::size_t>(1, exchanges)});
  return formations;
}

} // namespace clade
