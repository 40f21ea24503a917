#include "actors/transport/tls/c_deleter.hpp"
#include "tests/actors/transport/loopback.hpp"
#include "tests/actors/transport/team_fixture.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

#include <memory>

using namespace clade;
using namespace clade::test;

namespace {

using context_pointer = std::unique_ptr<SSL_CTX, c_deleter<SSL_CTX_free>>;
using ssl_pointer = std::unique_ptr<SSL, c_deleter<SSL_free>>;

constexpr std::uint32_t most_payload = 512U << 20;
const std::string too_long = "it announced a message of more than 512 MiB";

/// Both sides show keys, as those of a run do.
context_pointer context_of(const key_files& keys) {
  context_pointer made(SSL_CTX_new(TLS_method()));
  REQUIRE(SSL_CTX_use_certificate_chain_file(made.get(), keys.certificate.c_str()) == 1);
  REQUIRE(SSL_CTX_use_PrivateKey_file(made.get(), keys.key.c_str(), SSL_FILETYPE_PEM)
          == 1);
  REQUIRE(SSL_CTX_load_verify_locations(made.get(), keys.authority.c_str(), nullptr)
          == 1);
  SSL_CTX_set_verify(made.get(), SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT,
                     nullptr);
  return made;
}

/// One side of a connection, which does not block.
struct tls_end {
  unique_fd socket;
  ssl_pointer ssl;

  tls_end(unique_fd s, const key_files& keys)
      : socket(std::move(s)),
        ssl(SSL_new(context_of(keys).get())) {
    REQUIRE(::fcntl(socket.get(), F_SETFL, O_NONBLOCK) == 0);
    REQUIRE(SSL_set_fd(ssl.get(), socket.get()) == 1);
  }

  [[nodiscard]] int why(int result) const { return SSL_get_error(ssl.get(), result); }

  void await_more() const {
    pollfd more{.fd = socket.get(), .events = POLLIN, .revents = 0};
    ::poll(&more, 1, -1); // Who is interrupted looks again.
  }

  /// Shakes hands by this function. Returns whether that succeeded.
  [[nodiscard]] bool shake_hands(int (*shake)(SSL*)) const {
    for (;;) {
      const int done = shake(ssl.get());
      if (done == 1 || why(done) != SSL_ERROR_WANT_READ)
        return done == 1;
      await_more();
    }
  }

  void write(const std::string& all) const {
    REQUIRE(SSL_write(ssl.get(), all.data(), static_cast<int>(all.size()))
            == static_cast<int>(all.size()));
  }

  /// Returns what `SSL_read` does once something has come.
  [[nodiscard]] int read() const {
    std::array<char, 4096> some{};
    for (;;) {
      const int count = SSL_read(ssl.get(), some.data(), some.size());
      if (count > 0 || why(count) != SSL_ERROR_WANT_READ)
        return count;
      await_more();
    }
  }
};

/// A server and a client of one run that have connected to each other by TCP.
struct tls_pair {
  loopback_listener at;
  tls_end client, server;
  noted_refusals refused;

  explicit tls_pair(const key_files& clients = doors::keys().of("worker"))
      : client(at.connect(), clients),
        server(at.accept(), doors::keys().of("head")) {
    REQUIRE(server.socket);
  }

  /// Returns whether the server took the client in.
  [[nodiscard]] bool shake_hands() {
    auto accepts = std::async(std::launch::async,
                              [this] { return server.shake_hands(&SSL_accept); });
    static_cast<void>(client.shake_hands(&SSL_connect));
    return accepts.get();
  }

  /// Returns what is told where the client is refused for that reason.
  [[nodiscard]] std::string refusal(const std::string& reason) const {
    return "refused a connection from 127.0.0.1 port "
           + std::to_string(port_of(client.socket)) + ": " + reason;
  }
};

/// This program reads frames as CAF's library does while this lives. The guard is in the
/// program itself, which is what `follow_frames_read_by` complains about.
struct reads_as_caf {
  reads_as_caf() {
    CHECK_FALSE(follow_frames_read_by(reinterpret_cast<const void*>(&tls_is_guarded)));
  }
  ~reads_as_caf() { static_cast<void>(follow_frames_read_by(nullptr)); }
  reads_as_caf(const reads_as_caf&) = delete;
  reads_as_caf& operator=(const reads_as_caf&) = delete;
};

/// The header of a message of CAF with so many bytes after it; its other fields are any.
std::string header(std::uint32_t payload) {
  std::string made(32, '\xff');
  for (int i = 0; i < 4; ++i)
    made[4 + i] = static_cast<char>(payload >> (24 - 8 * i));
  return made;
}

template<class T>
T option_of(const unique_fd& socket, int name) {
  T value{};
  socklen_t size = sizeof value;
  REQUIRE(::getsockopt(socket.get(), IPPROTO_TCP, name, &value, &size) == 0);
  return value;
}

} // namespace

TEST_CASE("TLS guard: OpenSSL's functions of this process are the guard's") {
  CHECK(tls_is_guarded());
}

TEST_CASE("TLS guard: an error of another connection is not taken for one's own") {
  tls_pair p;
  REQUIRE(p.shake_hands());
  std::array<char, 64> some{};
  ERR_raise(ERR_LIB_SSL, ERR_R_INTERNAL_ERROR);
  const int nothing = SSL_read(p.server.ssl.get(), some.data(), some.size());
  CHECK(p.server.why(nothing) == SSL_ERROR_WANT_READ);
  const std::string much(1 << 20, 'x');
  int written = 1;
  while (written > 0) {
    ERR_raise(ERR_LIB_SSL, ERR_R_INTERNAL_ERROR);
    written = SSL_write(p.server.ssl.get(), much.data(), static_cast<int>(much.size()));
  }
  CHECK(p.server.why(written) == SSL_ERROR_WANT_WRITE);
}

TEST_CASE("TLS guard: connections send at once, and not long to who cannot be reached") {
  tls_pair p;
  REQUIRE(p.shake_hands());
  for (const auto* end : {&p.client, &p.server}) {
    CHECK(option_of<int>(end->socket, TCP_NODELAY) == 1);
    CHECK(option_of<unsigned>(end->socket, TCP_USER_TIMEOUT) == 60'000);
  }
}

TEST_CASE("TLS guard: a message that announces too much ends its connection") {
  const reads_as_caf frames;
  tls_pair p;
  REQUIRE(p.shake_hands());
  // Headers and payloads may come in any pieces; a payload of any bytes is no header.
  const auto ten = header(10) + std::string(10, '\xff');
  p.client.write(ten.substr(0, 3));
  CHECK(p.server.read() == 3);
  p.client.write(ten.substr(3) + ten.substr(0, 35));
  CHECK(p.server.read() == 39 + 35);
  p.client.write(ten.substr(35) + header(0));
  CHECK(p.server.read() == 7 + 32);
  CHECK(p.refused.said().empty());
  p.client.write(header(most_payload + 1));
  CHECK(p.server.read() == -1);
  CHECK(p.client.read() <= 0);
  CHECK(p.refused.said() == std::vector{p.refusal(too_long)});
}

TEST_CASE("TLS guard: the largest message is let through") {
  const reads_as_caf frames;
  tls_pair p;
  REQUIRE(p.shake_hands());
  p.client.write(header(most_payload));
  CHECK(p.server.read() == 32);
  p.client.write(header(most_payload + 1)); // A part of the payload.
  CHECK(p.server.read() == 32);
  CHECK(p.refused.said().empty());
}

TEST_CASE("TLS guard: what another library than CAF's reads is left alone") {
  // It stands for CAF's library, by which this program does not read.
  void* const another = ::dlsym(RTLD_DEFAULT, "SSL_CTX_new");
  REQUIRE(follow_frames_read_by(another));
  tls_pair p;
  REQUIRE(p.shake_hands());
  p.client.write(header(most_payload + 1));
  CHECK(p.server.read() == 32);
  CHECK(p.refused.said().empty());
}

TEST_CASE("TLS guard: handshakes that take too long are ended, and no others") {
  tls_pair slow, gone, through;
  REQUIRE(through.shake_hands());
  for (const auto* p : {&slow, &gone})
    CHECK(p->server.why(SSL_accept(p->server.ssl.get())) == SSL_ERROR_WANT_READ);
  gone.server.ssl.reset();
  end_slow_handshakes(1h);
  CHECK_FALSE(has_ended(slow.client.socket));
  const noted_refusals refused;
  end_slow_handshakes(0ms);
  slow.client.await_more(); // Its end.
  CHECK(has_ended(slow.client.socket));
  CHECK_FALSE(has_ended(gone.client.socket));
  CHECK_FALSE(has_ended(through.client.socket));
  end_slow_handshakes(0ms);
  CHECK(refused.said() == std::vector{slow.refusal("its TLS handshake took too long")});
}

TEST_CASE("TLS guard: what is no TLS is refused, and told once") {
  tls_pair p;
  const std::string garbage = "What is this port for? Nobody says it.";
  REQUIRE(::send(p.client.socket.get(), garbage.data(), garbage.size(), 0)
          == static_cast<ssize_t>(garbage.size()));
  CHECK_FALSE(p.server.shake_hands(&SSL_accept));
  CHECK_FALSE(p.server.shake_hands(&SSL_accept));
  CHECK(p.refused.said()
        == std::vector{p.refusal("no TLS handshake (wrong version number)")});
}

TEST_CASE("TLS guard: keys of another run are refused, and what to do is said") {
  const run_keys foreign;
  tls_pair p(foreign.of("worker"));
  // Else the client refuses the server's keys, which are foreign to it, first.
  SSL_set_verify(p.client.ssl.get(), SSL_VERIFY_NONE, nullptr);
  CHECK_FALSE(p.shake_hands());
  REQUIRE(p.refused.said().size() == 1);
  CHECK_THAT(
      p.refused.said()[0],
      Catch::StartsWith(p.refusal("its certificate is not of this run's authority"))
          && Catch::EndsWith("it needs a bundle of clade keys worker"));
}

TEST_CASE("TLS guard: all connections of a port are ended on both sides") {
  const loopback_listener at, other_port;
  const auto connects = at.connect(), accepted = at.accept();
  const auto other_connects = other_port.connect(), other_accepted = other_port.accept();
  shut_connections(at.port());
  await_end(accepted);
  await_end(connects);
  CHECK_FALSE(has_ended(other_connects));
  REQUIRE(::send(other_connects.get(), "!", 1, 0) == 1);
  char came = 0;
  REQUIRE(::recv(other_accepted.get(), &came, 1, 0) == 1);
  CHECK(came == '!');
}
