#include "actors/transport/team/team_links.hpp"
#include "engine/collectives/collectives.hpp"
#include "tests/actors/transport/team_fixture.hpp"
#include "tests/engine/collectives/link_laws.hpp"

#include <map>
#include <numeric>

using namespace clade;
using namespace clade::test;

TEST_CASE("team links: they hold what links promise") {
  // Linked once for each number of members: the laws leave nothing on its way.
  std::map<std::size_t, std::vector<std::unique_ptr<team_links>>> teams;
  check_links([&](std::size_t members, const member_work& work) {
    auto& team = teams[members];
    if (team.empty())
      team = doors(members).link_all();
    std::vector<std::future<void>> started;
    for (const auto& l : team)
      started.push_back(std::async(std::launch::async, [&] { work(*l); }));
    for (auto& s : started)
      s.get();
  });
}

TEST_CASE("team links: encryption adds less than a hundredth to a sum") {
  const auto team = doors(3).link_all();
  std::vector<float> values(1 << 20, 1);
  std::vector<std::uint64_t> payload(3), wire(3);
  const auto said = in_threads(team, [&](team_links& l) {
    const auto before = l.wire_bytes_sent();
    std::vector<float> sum(values.size());
    const std::span<const float> own(values);
    all_reduce<float>(l, {&own, 1}, l.members(), sum);
    payload[l.own()] = l.bytes_sent();
    wire[l.own()] = l.wire_bytes_sent() - before;
  });
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(payload[i] > values.size() * sizeof(float));
    CHECK(wire[i] > payload[i]);
    CHECK(wire[i] < payload[i] + payload[i] / 100);
  }
}

TEST_CASE("team links: all who wait hear at once of a member that leaves") {
  auto team = doors(4).link_all();
  const auto gone = team[2]->own();
  team[2].reset();
  const auto said = in_threads(team, [](team_links& l) {
    std::vector<std::byte> one(1);
    l.receive((l.own() + 1) % 4 == 2 ? 3 : (l.own() + 1) % 4, one);
  });
  REQUIRE(said.size() == 3);
  for (const auto& s : said)
    CHECK_THAT(s, Catch::StartsWith("member " + std::to_string(gone) + " at 127.0.0.1:")
                      && Catch::EndsWith("is lost: it closed the connection"));
}

TEST_CASE("team links: what came before a member left can be had") {
  auto team = doors(2).link_all();
  const std::vector<std::byte> said(300'000, std::byte{7});
  std::vector<std::byte> heard(said.size());
  auto sent = std::async(std::launch::async, [&] {
    team[1]->send(0, said);
    team[1].reset();
  });
  team[0]->receive(1, heard);
  sent.get();
  CHECK(heard == said);
  CHECK_THAT(why_broken([&] { team[0]->receive(1, heard); }),
             Catch::Contains("member 1"));
  CHECK_THROWS_AS(team[0]->has_come(1, 1), team_broken);
  CHECK_THROWS_AS(team[0]->send(1, heard), team_broken);
}

TEST_CASE("team links: an interrupt wakes whoever waits, whatever for") {
  const signal_fd interrupt;
  const auto team = doors(3).link_all(interrupt.get());
  auto waiting = std::async(std::launch::async, [&] {
    return in_threads(team, [](team_links& l) {
      std::vector<std::byte> much(64 << 20);
      if (l.own() == 0)
        l.receive(1, much);
      else if (l.own() == 1)
        static_cast<void>(l.wait_for_any(1, 0));
      else
        l.exchange(0, much, 1, much);
    });
  });
  interrupt.set();
  CHECK(
      waiting.get()
      == std::vector<std::string>(3, "the team is formed anew, or its task is dropped"));
  CHECK_THROWS_AS(team[0]->has_come(1, 1), team_broken);
}

TEST_CASE("team links: a member alone hears that the team is formed anew where it asks") {
  const signal_fd interrupt;
  const auto team = doors(1).link_all(interrupt.get());
  CHECK_FALSE(team[0]->has_come(0, 1));
  interrupt.set();
  CHECK(why_broken([&] { look_for_others(*team[0]); })
        == "the team is formed anew, or its task is dropped");
}

TEST_CASE("team links: whether something has come is known without waiting") {
  const auto team = doors(2).link_all();
  CHECK_FALSE(team[0]->has_come(1, 1));
  CHECK(team[0]->has_come(1, 0));
  std::vector<std::byte> out(1'000), in(1'000);
  team[1]->send(0, out);
  CHECK(team[0]->wait_for_any(1'000, 0) == 1);
  CHECK(team[0]->has_come(1, 1'000));
  CHECK_FALSE(team[0]->has_come(1, 1'001));
  team[0]->receive(1, in);
  CHECK_FALSE(team[0]->has_come(1, 1));
}

TEST_CASE("team links: bytes that are kept come out in their order") {
  inbound_bytes kept;
  std::vector<std::byte> in, out;
  for (std::size_t i = 0; i < 200; ++i) {
    std::vector<std::byte> some(i * 977 % 70'000, static_cast<std::byte>(i));
    in.insert(in.end(), some.begin(), some.end());
    if (i % 3 == 0) {
      kept.add(some);
    } else {
      for (std::span<const std::byte> left(some); !left.empty();) {
        const auto room = kept.room();
        const auto count = std::min(room.size(), left.size());
        std::copy_n(left.begin(), count, room.begin());
        kept.added(count);
        left = left.subspan(count);
      }
    }
    std::vector<std::byte> taken(i * 1'231 % 80'000);
    std::span<std::byte> missing(taken);
    kept.take(missing);
    out.insert(out.end(), taken.begin(), taken.end() - std::ssize(missing));
    CHECK(in.size() - out.size() == kept.size());
  }
  std::vector<std::byte> rest(kept.size());
  std::span<std::byte> missing(rest);
  kept.take(missing);
  out.insert(out.end(), rest.begin(), rest.end());
  CHECK((out == in));
}
