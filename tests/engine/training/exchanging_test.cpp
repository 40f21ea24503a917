// Trainings with parameter servers and among peers, by teams whose members are threads.
#include "engine/training/parallel/common/updates_log.hpp"
#include "tests/engine/training/team_bench.hpp"

#include <catch2/catch.hpp>
#include <rapidcheck.h>

#include <algorithm>

using namespace clade;

namespace {

struct way {
  const char* name;
  update_rule updates;
  std::uint32_t servers = 0, workers = 3; ///< No server: each of three does both.
};

constexpr way timed_ways[] = {
    {"parameter_server", update_rule::asynchronous},
    {"parameter_server", update_rule::asynchronous, 1, 2},
    {"parameter_server", update_rule::asynchronous, 2, 3},
    {"parameter_server", update_rule::bounded},
    {"parameter_server", update_rule::bounded, 1, 3},
    {"parameter_server", update_rule::backup},
    {"parameter_server", update_rule::backup, 2, 3},
    {"peer_to_peer", update_rule::asynchronous},
    {"peer_to_peer", update_rule::bounded},
};

struct timed_bench : team_bench {
  explicit timed_bench(const way& w) {
    if (w.servers > 0)
      serve(w.servers, w.workers);
    else
      share(w.name, w.workers);
    auto& d = setup.training.distribution;
    d.updates = w.updates;
    d.staleness = 1;
    setup.training.gradient_clip = 1;
  }
};

const evaluated_job& first_success(const std::vector<evaluated_job>& all) {
  const auto found = std::ranges::find_if(
      all, [](const auto& one) { return one.evaluation.outcome == outcome::succeeded; });
  for (const auto& one : all)
    UNSCOPED_INFO(one.evaluation.reason);
  REQUIRE(found != all.end());
  return *found;
}

bytes log_of(const evaluated_job& done) {
  const auto& log = done.evaluation.updates;
  return log ? bytes(log->begin(), log->end()) : bytes();
}

/// Alone and by a team of others, with the log.
void check_replays(const team_bench& bench, const evaluated_job& done, job j) {
  j.updates = log_of(done);
  REQUIRE_FALSE(j.updates.empty());
  const auto again = trained_alone(bench, j);
  CHECK(again.checkpoint == done.checkpoint);
  CHECK((again.evaluation.metrics == done.evaluation.metrics));
  CHECK(log_of(again) == log_of(done));
  const auto slots = bench.setup.training.distribution.devices;
  const auto by_team = trained_by_team(bench, slots, {{.members = 0b101}}, j);
  CHECK(check_successes(by_team, done) > 0);
}

/// The most steps that a worker was ahead of another, as the holder saw it that let it go
/// on: a server, or of peers its own copy.
std::uint32_t most_ahead(const bytes& updates, bool peers) {
  const auto log = decode_updates_log(updates);
  REQUIRE(log);
  std::uint32_t most = 0;
  for (const auto& epoch : log->epochs)
    for (std::size_t h = 0; h < epoch.size(); ++h) {
      std::vector<std::uint32_t> counts(log->workers);
      for (const auto& u : epoch[h]) {
        ++counts[u.worker];
        if (!peers || u.worker == h)
          most = std::max(most, counts[u.worker] - *std::ranges::min_element(counts));
      }
    }
  return most;
}

} // namespace

TEST_CASE("parameter server: with synchronous updates it is mirrored, bit for bit") {
  team_bench bench;
  bench.setup.training.gradient_clip = 0.5;
  const auto j = a_team_job();
  bench.share("mirrored", 3);
  const auto mirrored = trained_alone(bench, j);
  const auto check = [&] {
    CHECK(check_successes({trained_alone(bench, j)}, mirrored) == 1);
    const auto slots = bench.setup.training.distribution.devices;
    for (const std::uint32_t members : {0b011U, 0b110U, (1U << slots) - 1}) {
      INFO("members " << members);
      const auto all = trained_by_team(bench, slots, {{.members = members}}, j);
      CHECK(check_successes(all, mirrored) > 0);
    }
  };
  bench.share("parameter_server", 3);
  check();
  for (const std::uint32_t servers : {1U, 2U}) {
    bench.serve(servers, 3);
    check();
  }
}

TEST_CASE("parameter server: synchronous, whoever is lost or comes, the bits stay") {
  team_bench bench;
  const auto j = a_team_job();
  bench.share("mirrored", 3);
  const auto undisturbed = trained_alone(bench, j);
  CHECK(rc::check([&] {
    const auto servers = *rc::gen::inRange(0U, 3U);
    if (servers == 0)
      bench.share("parameter_server", 3);
    else
      bench.serve(servers, 3);
    const auto slots = servers + 3;
    const auto all = trained_by_team(bench, slots, some_formations(slots), j);
    RC_ASSERT(check_successes(all, undisturbed) > 0);
  }));
}

TEST_CASE("timed updates: they learn, and their log makes the same weights again") {
  for (const auto& w : timed_ways) {
    INFO(w.name << ", " << static_cast<int>(w.updates) << ", " << w.servers);
    const timed_bench bench(w);
    const auto slots = bench.setup.training.distribution.devices;
    auto j = a_team_job();
    j.budget = {.epochs = 8, .horizon = 8};
    const auto all = trained_by_team(bench, slots, {{.members = (1U << slots) - 1}}, j);
    const auto& done = first_success(all);
    CHECK(metric_of(done.evaluation.metrics, "validation.accuracy") > 0.9);
    if (w.updates == update_rule::bounded)
      CHECK(most_ahead(log_of(done), std::string(w.name) == "peer_to_peer") <= 2);
    check_replays(bench, done, j);
    check_replays(bench, trained_alone(bench, j), j);
  }
}

TEST_CASE("timed updates: whoever is lost or comes, they end, and can be made again") {
  const auto j = a_team_job();
  CHECK(rc::check([&] {
    const auto& w = timed_ways[*rc::gen::inRange<std::size_t>(0, std::size(timed_ways))];
    const timed_bench bench(w);
    const auto slots = bench.setup.training.distribution.devices;
    const auto all = trained_by_team(bench, slots, some_formations(slots), j);
    const auto& done = first_success(all);
    auto again = j;
    again.updates = log_of(done);
    RC_ASSERT(trained_alone(bench, again).checkpoint == done.checkpoint);
  }));
}

TEST_CASE("timed updates: a training goes on after a checkpoint, with a log of its own") {
  const timed_bench bench({"parameter_server", update_rule::asynchronous});
  const auto j = a_team_job();
  auto more = j;
  more.id = 9;
  more.start = j.id;
  more.start_epoch = 3;
  more.budget = {.epochs = 5, .horizon = 3};
  more.checkpoint =
      first_success(trained_by_team(bench, 3, {{.members = 7}}, j)).checkpoint;
  check_replays(bench, first_success(trained_by_team(bench, 3, {{.members = 7}}, more)),
                more);
}

TEST_CASE("timed updates: a log of another training, or a damaged one, is refused") {
  const timed_bench bench({"parameter_server", update_rule::asynchronous});
  auto j = a_team_job();
  listener ear;
  j.updates = {'x'};
  CHECK(bench.trainer()->evaluate(j, ear).evaluation.outcome != outcome::succeeded);
  j.updates = encode(updates_log{.workers = 3, .epochs = {{{{.worker = 1}}, {}, {}}}});
  CHECK(bench.trainer()->evaluate(j, ear).evaluation.outcome != outcome::succeeded);
}
