#include "engine/collectives/collectives.hpp"
#include "engine/collectives/memory_links.hpp"
#include "tests/engine/collectives/link_laws.hpp"

#include <catch2/catch.hpp>

#include <atomic>

using namespace clade;
using namespace clade::test;

namespace {

std::vector<std::unique_ptr<links>> links_of(memory_streams& streams) {
  std::vector<std::unique_ptr<links>> all;
  for (std::size_t m = 0; m < streams.members(); ++m)
    all.push_back(streams.link(m));
  return all;
}

template<class Work>
int hears_of_break(Work work) {
  try {
    work();
  } catch (const team_broken&) {
    return 1;
  }
  return 0;
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
  std::atomic<int> heard = 0; // Catch's own checks are for one thread.
  run_linked(links_of(streams), [&](links& l) {
    if (l.own() == 0)
      return streams.break_up();
    heard += hears_of_break([&] { barrier(l); });
    heard += hears_of_break([&] { (void)l.has_come(0, 1); });
  });
  CHECK(heard == 4);
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
