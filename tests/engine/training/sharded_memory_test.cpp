// The tensors that members of a team have in memory, by each thread.
#include "tests/engine/training/team_of_threads.hpp"
#include "tests/engine/training/thread_memory.hpp"
#include "tests/engine/training/training_data.hpp"
#include "tests/support/genomes.hpp"

#include <catch2/catch.hpp>

#include <cstdlib>

using namespace clade;

namespace {

/// Notes the most bytes that the tensors of its thread had while it evaluated.
class weighed_fitness final : public fitness_function {
public:
  weighed_fitness(std::unique_ptr<fitness_function> inner, std::int64_t& most)
      : inner_(std::move(inner)),
        most_(most) {}

  expected<std::uint64_t> warm_up() override { return inner_->warm_up(); }
  evaluated_job evaluate(const job& j, progress& p) override {
    test::tensor_count::forget_most();
    auto done = inner_->evaluate(j, p);
    most_ = test::tensor_count::most();
    return done;
  }
  expected<examination> examine(const job& j, const bytes& weights) override {
    return inner_->examine(j, weights);
  }
  expected<std::optional<examination>> baseline(std::uint64_t seed,
                                                const budget& b) override {
    return inner_->baseline(seed, b);
  }
  expected<composition> compose(std::span<const trained_member> members,
                                std::uint64_t seed, const budget& b,
                                composition_purpose purpose) override {
    return inner_->compose(members, seed, b, purpose);
  }

private:
  std::unique_ptr<fitness_function> inner_;
  std::int64_t& most_;
};

/// Twelve equal layers that together have about so many MB of parameters.
genome twelve_layers(std::int64_t megabytes) {
  std::int64_t units = 16;
  while (units * units * 4 * 11 < megabytes << 20)
    units += 16;
  std::vector<node_gene> layers(
      12, {{}, "dense", {{"activation", "relu"}, {"units", units}}});
  auto g = test::a_chain(std::move(layers));
  g.hyperparameters = {{"learning_rate", 1e-4}, {"optimiser", "adamw"}};
  return g;
}

} // namespace

// CLADE_TEST_MEGABYTES: of another network.
TEST_CASE("sharded: a member of four has little more than a quarter in memory") {
  const auto* said = std::getenv("CLADE_TEST_MEGABYTES");
  const std::int64_t megabytes = said == nullptr ? 8 : std::atoll(said);
  const test::tensor_count counts;
  training_bench bench(halves_csv(60));
  bench.setup.space.limits = {.max_parameters = 1'000'000'000,
                              .max_multiply_adds = 1'000'000'000,
                              .max_width = 100'000};
  auto j = a_job(twelve_layers(megabytes));
  j.budget = {.epochs = 2, .horizon = 2};
  std::int64_t whole = 0;
  listener ear;
  bench.setup.training.batch_size = 32;
  const auto one = weighed_fitness(bench.trainer(), whole).evaluate(j, ear);
  INFO(one.evaluation.reason);
  REQUIRE(one.evaluation.outcome == outcome::succeeded);
  bench.setup.training.batch_size = 8;
  bench.setup.training.distribution.name = "sharded";
  bench.setup.training.distribution.devices = 4;
  std::vector<std::int64_t> shares(4);
  std::size_t next = 0;
  const auto all = test::team_of_threads::train(
      4, {{.members = 15}},
      [&] { return std::make_unique<weighed_fitness>(bench.trainer(), shares[next++]); },
      j);
  for (const auto share : shares) {
    if (said != nullptr)
      WARN(share << " of " << whole << " bytes: "
                 << static_cast<double>(share) / static_cast<double>(whole));
    CHECK(static_cast<double>(share) < 0.35 * static_cast<double>(whole));
  }
}
