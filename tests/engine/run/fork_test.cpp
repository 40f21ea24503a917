// Forks of runs: records of one search, a change of its rules, and records of the other.
#include "engine/run/steps/verify.hpp"
#include "engine/search/strategies/registry/validation.hpp"
#include "tests/support/small_run.hpp"
#include "tests/support/verified.hpp"

#include <catch2/catch.hpp>

#include <map>

using namespace clade;

namespace {

struct setting_of_run {
  const char* strategy;
  const char* tell_order;
};
constexpr setting_of_run settings_of_runs[]{{"random", "asked"},
                                            {"generational", "asked"},
                                            {"regularized", "asked"},
                                            {"regularized", "arrived"},
                                            {"mu_plus_lambda", "asked"},
                                            {"successive_halving", "asked"},
                                            {"dehb", "asked"},
                                            {"asha", "asked"},
                                            {"median_stopping", "arrived"},
                                            {"population_based_training", "asked"}};

/// By the text that stands for an experiment in the records.
using experiments = std::map<std::string, run_rules>;

run_rules rules_for(const setting_of_run& s) {
  run_rules rules;
  rules.evolution.strategy = s.strategy;
  rules.evolution.tell_order = s.tell_order;
  rules.evolution.population = 6;
  rules.evolution.generations = 4;
  rules.evolution.elites = 2;
  rules.evolution.in_flight = 3;
  rules.seed = 11;
  REQUIRE(complete_rungs(rules.evolution, 2));
  return rules;
}

run_rules changed(run_rules rules, std::size_t population, std::size_t generations,
                  std::uint64_t seed) {
  rules.evolution.population = population;
  rules.evolution.generations = generations;
  rules.seed = seed;
  return rules;
}

simulation world(const experiments& all, const std::string& first,
                 const std::string& latest, std::uint64_t order) {
  auto s = small_run(all.at(latest), {.diverge = 0.1, .epochs = 2});
  s.rules = all.at(first);
  s.rules.read_fork = [&all](const run_forked& f) -> expected<run_rules> {
    return all.at(f.experiment);
  };
  s.pick = shuffled(order);
  return s;
}

/// The records up to the start of a generation, and a fork behind them.
std::vector<record> forked(const std::vector<record>& records, std::uint64_t generation,
                           const std::string& experiment, std::uint64_t seed) {
  std::vector<record> taken;
  std::uint64_t closed = 0;
  for (const auto& r : records) {
    if (!taken.empty() && closed == generation && !std::holds_alternative<run_forked>(r))
      break;
    taken.push_back(r);
    closed += std::holds_alternative<generation_closed>(r) ? 1 : 0;
  }
  taken.push_back(run_forked{.origin = "x",
                             .identity = 1,
                             .sequence = taken.size(),
                             .generation = generation,
                             .changes = {},
                             .experiment = experiment,
                             .seed = seed,
                             .search = {}});
  return taken;
}

verification verify(const experiments& all, const std::vector<record>& records) {
  return verified(
      [&](const std::string& experiment) {
        return replay_rules{.fold = all.at(experiment),
                            .space = small_space(),
                            .problem = small_problem()};
      },
      records);
}

/// The run that the other experiments fork from.
std::vector<record> origin(const experiments& all, std::uint64_t order = 1) {
  return simulate(world(all, "", "", order)).records;
}

std::vector<bytes> decisions(const std::vector<record>& records) {
  std::vector<bytes> all;
  for (const auto& r : records)
    if (!std::holds_alternative<run_forked>(r))
      all.push_back(decisive_bytes(r));
  std::sort(all.begin(), all.end());
  return all;
}

} // namespace

TEST_CASE("fork: a search goes on from any generation with another population and seed") {
  for (const auto& s : settings_of_runs)
    for (const std::size_t population : {3U, 10U})
      for (std::uint64_t at = 0; at < 4; ++at) {
        INFO(s.strategy << " " << s.tell_order << ", " << population << " at " << at);
        const auto rules = rules_for(s);
        const experiments all{{"", rules}, {"new", changed(rules, population, 6, 7)}};
        const auto start = forked(origin(all), at, "new", 7);
        const auto run = simulate(world(all, "", "new", 2), start);
        REQUIRE(run.state.finished);
        CHECK(run.state.generations.size() == 6);
        CHECK(run.state.born == 6 * at + population * (6 - at));
        CHECK(run.state.rules.seed == 7);
        const auto v = verify(all, run.records);
        REQUIRE_FALSE(v.first);
        CHECK(v.records == run.records.size());
        CHECK(v.decisions.starts == 2);
        CHECK(v.digest == run.state.digest);
      }
}

TEST_CASE("fork: one without a change goes on as its origin did") {
  for (const auto& s : settings_of_runs) {
    if (std::string(s.tell_order) == "arrived")
      continue; // The time at which something arrives is not the search's to say.
    const experiments all{{"", rules_for(s)}};
    const auto whole = origin(all);
    for (std::uint64_t at = 0; at < 4; ++at) {
      INFO(s.strategy << " at " << at);
      const auto run =
          simulate(world(all, "", "", 3), forked(whole, at, "", rules_for(s).seed));
      CHECK(decisions(run.records) == decisions(whole));
    }
  }
}

TEST_CASE("fork: its search is the same in any order of messages and after any stop") {
  for (const auto& s : settings_of_runs) {
    if (std::string(s.tell_order) == "arrived")
      continue;
    const auto rules = rules_for(s);
    const experiments all{{"", rules}, {"new", changed(rules, 9, 5, 7)}};
    const auto start = forked(origin(all), 2, "new", 7);
    const auto whole = simulate(world(all, "", "new", 1), start);
    for (std::size_t stop = start.size(); stop < whole.records.size(); stop += 3) {
      const auto end = whole.records.begin() + static_cast<std::ptrdiff_t>(stop);
      const auto again =
          simulate(world(all, "", "new", stop), {whole.records.begin(), end});
      INFO(s.strategy << ", stopped behind record " << stop);
      REQUIRE(again.state.digest == whole.state.digest);
    }
  }
}

TEST_CASE("fork: a fork of a fork goes on, before and behind the first") {
  for (const auto& s : settings_of_runs) {
    const auto rules = rules_for(s);
    const experiments all{
        {"", rules}, {"one", changed(rules, 8, 5, 7)}, {"two", changed(rules, 5, 7, 9)}};
    const auto first =
        simulate(world(all, "", "one", 1), forked(origin(all), 2, "one", 7));
    for (std::uint64_t at = 0; at < 5; ++at) {
      INFO(s.strategy << " " << s.tell_order << " at " << at);
      const auto second =
          simulate(world(all, "", "two", 2), forked(first.records, at, "two", 9));
      REQUIRE(second.state.finished);
      CHECK(second.state.generations.size() == 7);
      const auto v = verify(all, second.records);
      REQUIRE_FALSE(v.first);
      CHECK(v.decisions.starts == (at < 2 ? 2 : 3));
    }
  }
}

TEST_CASE("fork: what does not fit is refused, and the state stays as it was") {
  const auto rules = rules_for(settings_of_runs[1]);
  experiments all{{"", rules}, {"new", changed(rules, 8, 5, 7)}};
  all["random"] = rules;
  all["random"].evolution.strategy = "random";
  all["over"] = changed(rules, 6, 2, 11);
  all["goal"] = rules;
  all["goal"].objective.maximize = false;
  all["wrong"] = changed(rules, 0, 5, 7);
  const auto records = origin(all);
  const auto refused = [&](std::size_t behind, run_forked f) {
    const auto s = world(all, "", "", 1);
    auto state = fold(s.rules, {records.begin(),
                                records.begin() + static_cast<std::ptrdiff_t>(behind)});
    const auto before = to_text(state);
    const auto applied = apply(state, f);
    CHECK(to_text(state) == before);
    return applied ? "taken" : applied.error().message;
  };
  std::size_t begin = 0;
  for (std::size_t closed = 0; closed < 2; ++begin)
    closed += std::holds_alternative<generation_closed>(records[begin]) ? 1 : 0;
  const auto a_fork = [](std::uint64_t generation, const char* experiment,
                         std::uint64_t seed) {
    return run_forked{
        .origin = "x", .generation = generation, .experiment = experiment, .seed = seed};
  };
  using Catch::Contains;
  CHECK(refused(begin, a_fork(2, "new", 7)) == "taken");
  CHECK_THAT(refused(begin, a_fork(1, "new", 7)), Contains("is in generation 2"));
  CHECK_THAT(refused(begin, a_fork(2, "new", 8)), Contains("has the seed 7"));
  CHECK_THAT(refused(begin, a_fork(2, "random", 11)), Contains("evolution.strategy"));
  CHECK_THAT(refused(begin, a_fork(2, "over", 11)), Contains("evolution.generations"));
  CHECK_THAT(refused(begin, a_fork(2, "goal", 11)), Contains("objective"));
  CHECK_THAT(refused(begin, a_fork(2, "wrong", 7)), Contains("population"));
  CHECK_THAT(refused(begin + 1, a_fork(2, "new", 7)), Contains("has begun"));
  CHECK_THAT(refused(records.size(), a_fork(4, "new", 7)), Contains("finished"));
}
