// Trainings of teams, whose members are threads here.
#include "tests/engine/training/team_bench.hpp"

#include <catch2/catch.hpp>
#include <rapidcheck.h>

using namespace clade;

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
    const auto all = trained_by_team(bench, 3, some_formations(3), j);
    RC_ASSERT(check_successes(all, undisturbed) > 0);
  }));
}
