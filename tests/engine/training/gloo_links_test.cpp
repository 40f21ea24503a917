// Links over Gloo between threads that have met in memory.
#include "engine/collectives/collectives.hpp"
#include "engine/collectives/memory_links.hpp"
#include "engine/training/parallel/common/gloo_links.hpp"
#include "tests/engine/collectives/link_laws.hpp"

#include <ATen/ATen.h>
#include <catch2/catch.hpp>
#include <torch/csrc/distributed/c10d/HashStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>

#include <filesystem>
#include <fstream>
#include <future>
#include <map>
#include <random>
#include <set>
#include <sstream>

using namespace clade;
using namespace clade::test;

namespace {

constexpr const char* loopback = "127.0.0.1";

/// Returns the links of all members, who met over `streams`.
std::vector<std::unique_ptr<links>> over_gloo(memory_streams& streams,
                                              const std::string& address = loopback) {
  std::vector<std::unique_ptr<links>> met, all(streams.members());
  for (std::size_t m = 0; m < streams.members(); ++m)
    met.push_back(streams.link(m));
  run_linked(std::move(met), [&](links& l) {
    all[l.own()] = make_gloo_links(streams.link(l.own()), address);
  });
  return all;
}

/// The sockets on which this process listens, and at which address, as the kernel has it.
std::map<std::string, std::string> listening() {
  std::set<std::string> own;
  std::error_code gone;
  for (const auto& d : std::filesystem::directory_iterator("/proc/self/fd"))
    own.insert(std::filesystem::read_symlink(d.path(), gone).string());
  std::map<std::string, std::string> found;
  for (const auto* table : {"/proc/self/net/tcp", "/proc/self/net/tcp6"}) {
    std::ifstream lines(table);
    for (std::string line; std::getline(lines, line);) {
      std::istringstream fields(line);
      std::string slot, local, remote, state, queues, timer, retransmits, user, timeout,
          inode;
      fields >> slot >> local >> remote >> state >> queues >> timer >> retransmits >> user
          >> timeout >> inode;
      const auto socket = "socket:[" + inode + "]";
      if (state == "0A" && own.contains(socket))
        found[socket] = local.substr(0, local.find(':'));
    }
  }
  return found;
}

std::vector<float> random_values(std::size_t seed, std::size_t size) {
  std::mt19937 random(static_cast<std::uint32_t>(seed));
  std::vector<float> values(size);
  for (auto& v : values)
    v = std::uniform_real_distribution<float>(-1, 1)(random);
  return values;
}

/// Returns the sum as c10d adds up over Gloo.
std::vector<float> sum_of_c10d(const c10::intrusive_ptr<c10d::Store>& store,
                               const links& l, std::vector<float> values) {
  const auto options = c10d::ProcessGroupGloo::Options::create();
  options->devices.push_back(c10d::ProcessGroupGloo::createDeviceForHostname(loopback));
  c10d::ProcessGroupGloo group(store, static_cast<int>(l.own()),
                               static_cast<int>(l.members()), options);
  std::vector<at::Tensor> one{
      at::from_blob(values.data(), {static_cast<std::int64_t>(values.size())})};
  group.allreduce(one)->wait();
  return values;
}

std::string why_broken(const std::function<void()>& call) {
  try {
    call();
  } catch (const team_broken& why) {
    return why.what();
  }
  return "not broken";
}

} // namespace

TEST_CASE("gloo links: they hold what links promise") {
  check_links([](std::size_t members, const member_work& work) {
    memory_streams streams(members);
    run_linked(over_gloo(streams), work);
  });
}

TEST_CASE("gloo links: our sums are those of c10d but for rounding") {
  for (const std::size_t members : {2U, 3U, 4U}) {
    INFO(members << " members");
    const auto store = c10::make_intrusive<c10d::HashStore>();
    memory_streams streams(members);
    std::vector<std::vector<float>> ours(members), theirs(members);
    run_linked(over_gloo(streams), [&](links& l) {
      const auto own = random_values(l.own(), 100'003);
      const std::vector<std::span<const float>> shares{own};
      auto& sum = ours[l.own()];
      sum.resize(own.size());
      all_reduce<float>(l, shares, members, sum);
      theirs[l.own()] = sum_of_c10d(store, l, own);
      barrier(l); // Until then the others may need this member.
    });
    float largest = 0;
    for (std::size_t m = 0; m < members; ++m) {
      CHECK(ours[m] == ours[0]);
      for (std::size_t i = 0; i < ours[m].size(); ++i)
        largest = std::max(largest, std::abs(ours[m][i] - theirs[m][i]));
    }
    CHECK(largest <= 1e-6F);
  }
}

TEST_CASE("gloo links: nothing listens but at the address that was said") {
  const auto before = listening();
  memory_streams streams(3);
  const auto all = over_gloo(streams, "127.0.0.2");
  std::size_t count = 0;
  for (const auto& [socket, address] : listening())
    if (!before.contains(socket)) {
      CHECK(address == "0200007F"); // In the order of the network.
      ++count;
    }
  CHECK(count > 0);
}

TEST_CASE("gloo links: what came before a member left can be had") {
  memory_streams streams(2);
  auto all = over_gloo(streams);
  const std::vector<std::byte> said(3'000'000, std::byte{7});
  std::vector<std::byte> heard(said.size());
  auto sent = std::async(std::launch::async, [&] {
    all[1]->send(0, said);
    all[1].reset();
  });
  all[0]->receive(1, heard);
  sent.get();
  CHECK((heard == said)); // LibTorch would print them.
  CHECK_THAT(why_broken([&] { all[0]->receive(1, heard); }),
             Catch::Contains("member 1 is lost"));
  CHECK_THROWS_AS(all[0]->has_come(1, 1), team_broken);
  CHECK_THROWS_AS(all[0]->send(1, heard), team_broken);
}

TEST_CASE("gloo links: whoever waits hears that another member is lost") {
  memory_streams streams(3);
  auto all = over_gloo(streams);
  auto waiting = std::async(std::launch::async, [&] {
    return why_broken([&] { static_cast<void>(all[0]->wait_for_any(1, 0)); });
  });
  all[2].reset();
  CHECK_THAT(waiting.get(), Catch::Contains("member 2 is lost"));
}

TEST_CASE("gloo links: a break of those by which members met wakes whoever waits") {
  memory_streams streams(3);
  const auto all = over_gloo(streams);
  std::vector<std::byte> much(64 << 20);
  const auto in_thread = [&](auto call) {
    return std::async(std::launch::async, [&, call] { return why_broken(call); });
  };
  auto receives = in_thread([&] {
    std::byte one{};
    all[1]->receive(0, {&one, 1});
  });
  // Member 0 makes no call that waits, and takes in no more than it has room for.
  auto sends = in_thread([&] { all[2]->send(0, much); });
  while (!all[0]->has_come(2, 16 << 20))
    std::this_thread::yield();
  streams.break_up();
  CHECK(receives.get() == "the team was broken up");
  CHECK(sends.get() == "the team was broken up");
}

TEST_CASE("gloo links: members that cannot meet are told so") {
  memory_streams streams(2);
  auto waits = std::async(std::launch::async, [&] {
    return why_broken(
        [&] { static_cast<void>(make_gloo_links(streams.link(0), loopback)); });
  });
  CHECK_THAT(why_broken([&] {
               static_cast<void>(make_gloo_links(streams.link(1), "203.0.113.1"));
             }),
             Catch::Contains("Gloo does not connect the members from 203.0.113.1: "));
  streams.break_up();
  CHECK_THAT(waits.get(), Catch::EndsWith("the team was broken up"));
}
