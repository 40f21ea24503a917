#include "actors/transport/tls/tls_stream.hpp"
#include "tests/actors/transport/team_fixture.hpp"

#include <sys/socket.h>

using namespace clade;
using namespace clade::test;

namespace {

/// Two streams of one thread that are connected to each other.
struct stream_pair {
  stream_pair() {
    int ends[2];
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends)
            == 0);
    const auto keys = doors::keys().of("worker");
    client = tls_stream::over(unique_fd(ends[0]), keys, tls_side::client).value();
    server = tls_stream::over(unique_fd(ends[1]), keys, tls_side::server).value();
    auto one = tls_step::waiting, other = one;
    while (one != tls_step::done || other != tls_step::done) {
      one = client->shake_hands();
      other = server->shake_hands();
      REQUIRE(one != tls_step::ended);
      REQUIRE(other != tls_step::ended);
    }
  }

  /// Sends them to the server, and returns what came there.
  std::vector<std::byte> pass(std::span<const std::byte> out) {
    std::vector<std::byte> came(out.size());
    std::span<std::byte> in(came);
    while (!in.empty()) {
      REQUIRE(client->write(out) != tls_step::ended);
      REQUIRE(server->read(in) != tls_step::ended);
    }
    return came;
  }

  std::optional<tls_stream> client, server;
};

} // namespace

TEST_CASE("TLS stream: keys are changed on the way, and nothing is lost") {
  std::vector<std::byte> out(3 << 20);
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i] = static_cast<std::byte>(i * i >> 7);
  stream_pair one_key, many_keys;
  many_keys.client->take_new_keys_after(100'000);
  CHECK((one_key.pass(out) == out));
  CHECK((many_keys.pass(out) == out));
  // Each new key is announced.
  CHECK(many_keys.client->wire_bytes_sent()
        > one_key.client->wire_bytes_sent() + 20 * std::size_t{20});
}

TEST_CASE("TLS stream: writing to a peer that is gone is an end, and no signal") {
  stream_pair p;
  p.server.reset();
  const std::vector<std::byte> much(1 << 20);
  std::span<const std::byte> out(much);
  CHECK(p.client->write(out) == tls_step::ended);
  CHECK(p.client->why_ended() == "Broken pipe");
}

TEST_CASE("TLS stream: what is no TLS is an end, with the reason") {
  int ends[2];
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends)
          == 0);
  const unique_fd other(ends[1]);
  auto server =
      tls_stream::over(unique_fd(ends[0]), doors::keys().of("worker"), tls_side::server);
  REQUIRE(server);
  CHECK(server->shake_hands() == tls_step::waiting);
  REQUIRE(::send(other.get(), "what is this?", 13, 0) == 13);
  CHECK(server->shake_hands() == tls_step::ended);
  CHECK(server->why_ended() == "TLS failed (wrong version number)");
}
