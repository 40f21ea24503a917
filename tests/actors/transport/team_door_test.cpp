#include "actors/transport/team/team_door.hpp"
#include "actors/transport/tls/c_deleter.hpp"
#include "actors/transport/tls/tls_guard.hpp"
#include "tests/actors/transport/team_fixture.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

using namespace clade;
using namespace clade::test;

namespace {

unique_fd connection_to(std::uint16_t port) {
  unique_fd s(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(port);
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  REQUIRE(::connect(s.get(), reinterpret_cast<sockaddr*>(&to), sizeof(to)) == 0);
  return s;
}

void say(const unique_fd& connection, const std::string& words) {
  REQUIRE(::send(connection.get(), words.data(), words.size(), MSG_NOSIGNAL)
          == static_cast<ssize_t>(words.size()));
}

/// Waits until the other side has closed it.
void wait_for_end(const unique_fd& connection) {
  char some[4096];
  while (::recv(connection.get(), some, sizeof(some), 0) > 0) {
  }
}

/// Notes each refusal, and sets the signal.
struct refusals {
  refusals() {
    report_refusals([this](const std::string& words) {
      {
        const std::lock_guard lock(mutex);
        said = words;
      }
      told.set();
    });
  }
  ~refusals() { report_refusals({}); }

  std::string first() {
    const std::lock_guard lock(mutex);
    return said;
  }

  std::mutex mutex;
  std::string said;
  signal_fd told;
};

/// Why a process with these keys is not let in by a member of a team with good ones.
std::string refusal_of(const key_files& keys) {
  refusals refused;
  doors all({doors::keys().of("worker"), keys});
  auto good = all.start(all.formation(0), refused.told.get());
  auto bad = all.start(all.formation(1), refused.told.get());
  CHECK_THROWS_AS(good.get(), team_broken);
  CHECK_THROWS_AS(bad.get(), team_broken);
  return refused.first();
}

} // namespace

TEST_CASE("team door: a member alone is linked at once") {
  doors one(1);
  const auto l = one.link(one.formation(0));
  CHECK(l->own() == 0);
  CHECK(l->members() == 1);
}

TEST_CASE("team door: another authority's worker is refused") {
  const run_keys other;
  CHECK_THAT(refusal_of(other.of("worker")),
             Catch::StartsWith("refused a connection from 127.0.0.1: TLS failed"));
  // One that trusts this run, and is not trusted.
  auto mixed = other.of("worker");
  mixed.authority = doors::keys().of("worker").authority;
  CHECK_THAT(
      refusal_of(mixed),
      Catch::Contains("its certificate is not a worker's of this run's authority"));
}

TEST_CASE("team door: a head's certificate is not a member's") {
  CHECK_THAT(refusal_of(doors::keys().of("head")),
             Catch::Contains("not a worker's of this run's authority")
                 && Catch::Contains("certificate purpose"));
}

TEST_CASE("team door: whoever shows no certificate is refused") {
  refusals refused;
  doors all(2);
  auto good = all.start(all.formation(0), refused.told.get());
  const auto socket = connection_to(all.port(0));
  const std::unique_ptr<SSL_CTX, c_deleter<SSL_CTX_free>> context(
      SSL_CTX_new(TLS_client_method()));
  const std::unique_ptr<SSL, c_deleter<SSL_free>> ssl(SSL_new(context.get()));
  SSL_set_fd(ssl.get(), socket.get());
  SSL_set_connect_state(ssl.get());
  // With TLS 1.3 the client has done its part before it is refused.
  static_cast<void>(SSL_do_handshake(ssl.get()));
  CHECK_THROWS_AS(good.get(), team_broken);
  CHECK_THAT(refused.first(), Catch::Contains("peer did not return a certificate"));
}

TEST_CASE("team door: strangers hinder no team") {
  doors all(3);
  std::vector<unique_fd> strangers;
  for (int i = 0; i < 90; ++i) // More than may stay.
    strangers.push_back(connection_to(all.port(0)));
  for (const char* words :
       {"GET / HTTP/1.1\r\n\r\n", "\x16\x03\x01", "\x16\x03\x01\xff"}) {
    strangers.push_back(connection_to(all.port(0)));
    say(strangers.back(), words);
  }
  std::string noise;
  for (unsigned i = 0; i < 100'000; ++i)
    noise.push_back(static_cast<char>(i * i * 2654435761U >> 24));
  strangers.push_back(connection_to(all.port(1)));
  say(strangers.back(), noise);
  connection_to(all.port(1)).reset();
  CHECK(all.link_all().size() == 3);
  for (const auto& s : strangers)
    wait_for_end(s);
}

TEST_CASE("team door: who says nothing is dropped, and a late member is waited for") {
  doors all(2);
  auto early = all.start(all.formation(0));
  wait_for_end(connection_to(all.port(0)));
  const auto late = all.link(all.formation(1));
  CHECK(early.get()->members() == 2);
}

TEST_CASE("team door: an interrupt ends the waiting for members") {
  const signal_fd interrupt;
  doors all(3);
  auto waiting = all.start(all.formation(1), interrupt.get());
  interrupt.set();
  CHECK(why_broken([&] { waiting.get(); })
        == "the team is formed anew, or its task is dropped");
  CHECK_THROWS_AS(all.link(all.formation(1), interrupt.get()), team_broken);
}

TEST_CASE("team door: when the time is over it says who is missing, and why") {
  doors all(3);
  const auto nobody = [&] {
    const doors gone(1);
    return gone.port(0);
  }();
  auto f = all.formation(1);
  f.members[0].port = nobody;
  CHECK(why_broken([&] { all.link(f, -1, 1ms); })
        == "not all members of the team came in time; member 0 at "
               + to_text(f.members[0]) + ": Connection refused; member 2 at "
               + to_text(f.members[2]) + ": it has not come");
}

TEST_CASE("team door: members that differ refuse each other by name") {
  doors all(2);
  auto f = all.formation(0);
  f.checksum = 6;
  auto first = all.start(f), second = all.start(all.formation(1));
  constexpr const char* differs = " has other code, data or another experiment";
  CHECK(why_broken([&] { first.get(); })
        == "member 1 at " + to_text(f.members[1]) + differs);
  CHECK(why_broken([&] { second.get(); })
        == "member 0 at " + to_text(f.members[0]) + differs);
}

TEST_CASE("team door: a member of an older formation is not let in") {
  doors all(2);
  auto waiting = all.start(all.formation(0, 2));
  CHECK_THAT(why_broken([&] { all.link(all.formation(1, 1), -1, 300ms); }),
             Catch::Contains("member 0 at 127.0.0.1"));
  const auto now = all.link(all.formation(1, 2));
  CHECK(waiting.get()->members() == 2);
}

TEST_CASE("team door: a member of a later formation waits until others have it too") {
  const signal_fd interrupt;
  doors all(3);
  auto behind = all.start(all.formation(0, 1), interrupt.get());
  auto ahead = all.start(all.formation(1, 2)), last = all.start(all.formation(2, 2));
  interrupt.set();
  CHECK_THROWS_AS(behind.get(), team_broken);
  // All are kept until all are there: who goes before is waited for again.
  const auto first = all.link(all.formation(0, 2)), second = ahead.get(),
             third = last.get();
  CHECK(second->own() == 1);
  CHECK(third->own() == 2);
}

TEST_CASE("team door: a member that goes while a team forms may come back") {
  doors all(3);
  auto first = all.start(all.formation(0));
  static_cast<void>(why_broken([&] { all.link(all.formation(1), -1, 200ms); }));
  auto again = all.start(all.formation(1));
  const auto last = all.link(all.formation(2));
  std::vector<std::unique_ptr<team_links>> team;
  team.push_back(first.get());
  team.push_back(again.get());
  for (const auto& l : team)
    l->send(2, std::as_bytes(std::span("hello")));
  std::vector<std::byte> heard(6);
  last->receive(0, heard);
  last->receive(1, heard);
}

TEST_CASE("team door: the keys are read again for each connection") {
  const scratch_folder folder;
  REQUIRE(make_run_keys(folder.path()));
  const auto b = folder.path() / "worker";
  const key_files files{
      .authority = b / "ca.pem", .certificate = b / "cert.pem", .key = b / "key.pem"};
  doors all({files, files});
  CHECK(all.link_all().size() == 2);
  REQUIRE(make_run_keys(folder.path())); // Another authority.
  CHECK(all.link_all().size() == 2);
}

TEST_CASE("team door: what cannot be opened is said") {
  CHECK(team_door::open(doors::keys().of("worker"), "nowhere.example").error().message
        == "\"nowhere.example\" is no numeric address");
  CHECK(team_door::open(doors::keys().of("worker"), "192.0.2.1").error().kind
        == error_kind::io);
  CHECK(team_door::open(doors::keys().of("nobody"), "127.0.0.1").error().kind
        == error_kind::invalid_input);
}

TEST_CASE("team door: what is no team is refused") {
  const auto door = team_door::open(doors::keys().of("worker"), "127.0.0.1");
  REQUIRE(door);
  CHECK(why_broken([&] {
          static_cast<void>((*door)->link({.own = 1, .members = {{}}}, -1, 1ms));
        })
        == "there is no team of 1 members with a member 1");
}
