#include "engine/collectives/collectives.hpp"
#include "engine/collectives/memory_links.hpp"
#include "tests/engine/collectives/link_laws.hpp"

#include <catch2/catch.hpp>

using namespace clade;
using namespace clade::test;

namespace {

std::vector<std::unique_ptr<links>> links_of(memory_streams& streams) {
  std::vector<std::unique_ptr<links>> all;
  for (std::size_t m = 0; m < streams.members(); ++m)
    all.push_back(streams.link(m));
  return all;
}

} // namespace

TEST_CASE("collectives: among threads they hold what they promise") {
  check_links([](std::size_t members, const member_work& work) {
    memory_streams streams(members);
    run_linked(links_of(streams), work);
  });
}

TEST_CASE("collectives: whoever waits hears that the team is broken") {
  memory_streams streams(3);
  run_linked(links_of(streams), [&](links& l) {
    if (l.own() == 0)
      return streams.break_up();
    CHECK_THROWS_AS(barrier(l), team_broken);
    CHECK_THROWS_AS(l.has_come(0, 1), team_broken);
  });
}

TEST_CASE("collectives: shares are divided evenly, and none is left out") {
  for (std::size_t shares = 1; shares < 20; ++shares)
    for (std::size_t members = 1; members <= shares; ++members) {
      std::size_t next = 0;
      for (std::size_t m = 0; m < members; ++m) {
        const auto r = shares_of(m, members, shares);
        CHECK(r.begin == next);
        CHECK(r.size() >= shares / members);
        CHECK(r.size() <= shares / members + 1);
        next = r.end;
      }
      CHECK(next == shares);
    }
}
