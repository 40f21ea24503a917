#include "actors/transport/tls/stranger_list.hpp"
#include "genome/base/unique_fd.hpp"

#include <catch2/catch.hpp>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <string>
#include <vector>

using namespace clade;
using namespace std::chrono_literals;

namespace {

constexpr stranger_limits roomy{.all = 10'000, .of_one = 10'000, .kept = 1 << 20};

/// A connection, and its other end.
struct connection {
  unique_fd accepted, other;

  connection() {
    std::array<int, 2> ends{};
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) == 0);
    accepted.reset(ends[0]);
    other.reset(ends[1]);
  }

  [[nodiscard]] bool is_cut_off() const {
    pollfd end{.fd = other.get(), .events = POLLIN | POLLRDHUP, .revents = 0};
    return ::poll(&end, 1, 0) == 1 && (end.revents & POLLRDHUP) != 0;
  }
};

/// A list and a clock that the test moves.
struct fixture {
  stranger_list list;
  stranger_list::clock::time_point now{};
  stranger_limits limits = roomy;

  bool admit(const std::string& who, int descriptor = -1, std::uint16_t port = 1) {
    return list.admit(
        {.descriptor = descriptor, .who = who, .address = "127.0.0.1", .port = port},
        limits, now);
  }

  /// How many of so many are admitted.
  int count_admitted(const std::string& who, int connections) {
    int count = 0;
    for (int i = 0; i < connections; ++i)
      count += admit(who) ? 1 : 0;
    return count;
  }
};

} // namespace

TEST_CASE("strangers: one who connects too often is refused, and nobody else") {
  fixture f;
  CHECK(f.count_admitted("user 12345", 1000) == 128);
  CHECK(f.count_admitted("user 12346", 100) == 100);
  f.now += 1s;
  CHECK(f.count_admitted("user 12345", 1000) == 32);
  f.now += 1h;
  CHECK(f.count_admitted("user 12345", 1000) == 128);
}

TEST_CASE("strangers: our own user may connect more often") {
  fixture f;
  int count = 0;
  for (int i = 0; i < 2000; ++i)
    count += f.list.admit({.who = "user 0", .own_user = true}, roomy, f.now) ? 1 : 0;
  CHECK(count == 1024);
}

TEST_CASE("strangers: who is vouched for is forgiven, and not who shares the address") {
  fixture f;
  f.count_admitted("user 12345", 1000);
  const connection known;
  REQUIRE(f.admit("user 12346", known.accepted.get(), 4711));
  f.count_admitted("user 12346", 1000);
  f.list.vouch_for("127.0.0.1", 4711);
  CHECK(f.count_admitted("user 12346", 1000) == 128);
  CHECK_FALSE(f.admit("user 12345"));
}

TEST_CASE("strangers: a flood from many addresses gives nobody a new allowance") {
  fixture f;
  f.limits = {.all = 4, .of_one = 4, .kept = 1 << 20};
  REQUIRE(f.count_admitted("192.0.2.1", 1000) == 128);
  for (std::size_t i = 0; i < 2 * stranger_list::most_known; ++i) {
    f.now += 1us;
    CHECK(f.admit("2001:db8::" + std::to_string(i)));
    if (i % 100 == 0)
      CHECK_FALSE(f.admit("192.0.2.1"));
  }
}

TEST_CASE("strangers: the oldest of who has most makes room for the newest") {
  fixture f;
  f.limits = {.all = 4, .of_one = 3, .kept = 1 << 20};
  const std::vector<connection> all(6);
  const auto admit = [&](const char* who, std::size_t i) {
    REQUIRE(f.admit(who, all[i].accepted.get()));
  };
  admit("ann", 0);
  admit("mallory", 1);
  admit("mallory", 2);
  admit("mallory", 3);
  admit("mallory", 4); // Mallory has as many as one user may.
  CHECK(all[1].is_cut_off());
  admit("eve", 5); // There are as many as may be.
  CHECK(all[2].is_cut_off());
  for (const std::size_t i : {0, 3, 4, 5})
    CHECK_FALSE(all[i].is_cut_off());
}

TEST_CASE("strangers: after its time, or once it is known, none is cut off") {
  fixture f;
  f.limits = {.all = 2, .of_one = 2, .kept = 1 << 20};
  const std::vector<connection> all(4);
  REQUIRE(f.admit("ann", all[0].accepted.get()));
  REQUIRE(f.admit("ann", all[1].accepted.get()));
  f.list.forget(all[1].accepted.get());
  f.now += stranger_list::proof_time + 1s;
  REQUIRE(f.admit("ann", all[2].accepted.get()));
  REQUIRE(f.admit("ann", all[3].accepted.get()));
  for (const auto& one : all)
    CHECK_FALSE(one.is_cut_off());
}

TEST_CASE("strangers: descriptors that are kept are given to nobody") {
  fixture f;
  const connection one, two;
  f.limits.kept = two.accepted.get();
  REQUIRE(one.accepted.get() < two.accepted.get());
  REQUIRE(f.admit("ann", one.accepted.get()));
  REQUIRE(f.admit("bob", two.accepted.get()));
  CHECK(one.is_cut_off());
  f.list.forget(two.accepted.get());
  CHECK_FALSE(f.admit("eve", two.accepted.get()));
}
