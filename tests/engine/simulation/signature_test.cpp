// The signature (engine/README.md): one number over all decisions of a fixed small
// experiment. A commit that changes these constants changes what a seed means, and says
// so in its body.
#include "tests/support/small_run.hpp"

#include <catch2/catch.hpp>

using namespace clade;

namespace {

struct signed_run {
  const char* strategy;
  const char* signature;
};

constexpr signed_run signed_runs[]{
    {"random", "67b7e215748eb7fce46efa94d6c081ea of 202 records"},
    {"generational", "a741e61502ee9e7a06eedfd62a8c9148 of 202 records"},
    {"regularized", "7bdab8b37afc689f30f89ca68ce4e35b of 202 records"},
};

simulation fixed_experiment(const std::string& strategy) {
  run_rules rules;
  rules.evolution.strategy = strategy;
  rules.evolution.population = 12;
  rules.evolution.generations = 8;
  rules.evolution.elites = 2;
  rules.evolution.in_flight = 5;
  rules.seed = 20;
  return small_run(rules, {.diverge = 0.1, .epochs = 2});
}

} // namespace

TEST_CASE("signature: a fixed small experiment gives this digest") {
  for (const auto& r : signed_runs) {
    INFO(r.strategy);
    const auto run = simulate(fixed_experiment(r.strategy));
    CHECK(run.state.evaluated == 96);
    CHECK(run.state.failed > 0);
    CHECK(to_text(run.state.digest) == r.signature);
  }
}

TEST_CASE("signature: it is the same in whatever order messages come") {
  for (const auto& r : signed_runs)
    for (std::uint64_t order = 1; order <= 5; ++order) {
      auto mixed = fixed_experiment(r.strategy);
      mixed.pick = shuffled(order);
      INFO(r.strategy << ", order " << order);
      REQUIRE(to_text(simulate(mixed).state.digest) == r.signature);
    }
}

TEST_CASE("signature: it is the same after a stop at any record") {
  for (const auto& r : signed_runs) {
    auto mixed = fixed_experiment(r.strategy);
    mixed.pick = shuffled(1);
    const auto whole = simulate(mixed);
    for (std::size_t stop = 1; stop < whole.records.size(); ++stop) {
      INFO(r.strategy << ", stopped behind record " << stop);
      const auto end = whole.records.begin() + static_cast<std::ptrdiff_t>(stop);
      const auto resumed = simulate(mixed, {whole.records.begin(), end});
      REQUIRE(to_text(resumed.state.digest) == r.signature);
    }
  }
}

TEST_CASE("signature: it is the same from records that were stored and read again") {
  for (const auto& r : signed_runs) {
    const auto run = simulate(fixed_experiment(r.strategy));
    std::vector<record> read;
    for (const auto& one : run.records)
      read.push_back(decode_record(encode(one)).value());
    CHECK(to_text(fold(fixed_experiment(r.strategy).rules, read).digest) == r.signature);
  }
}
