#include "actors/transport/tls/peer_user.hpp"
#include "genome/base/unique_fd.hpp"

#include <arpa/inet.h>
#include <catch2/catch.hpp>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

using namespace clade;

namespace {

/// A socket that listens on loopback, and one that has connected to it.
struct connected_pair {
  unique_fd listens{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  unique_fd connects{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};

  connected_pair() {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(at);
    auto* address = reinterpret_cast<sockaddr*>(&at);
    REQUIRE(::bind(listens.get(), address, size) == 0);
    REQUIRE(::listen(listens.get(), 1) == 0);
    REQUIRE(::getsockname(listens.get(), address, &size) == 0);
    REQUIRE(::connect(connects.get(), address, size) == 0);
  }

  [[nodiscard]] unique_fd accepted() const {
    return unique_fd(::accept(listens.get(), nullptr, nullptr));
  }
};

} // namespace

TEST_CASE("peer user: both ends of a connection are known once it is accepted") {
  const connected_pair pair;
  CHECK(user_of_peer(pair.connects.get()).found == peer_user::is::absent);
  const auto accepted = pair.accepted();
  for (const int end : {pair.connects.get(), accepted.get()}) {
    const auto peer = user_of_peer(end);
    CHECK(peer.is_known());
    CHECK(peer.user == ::geteuid());
  }
}

TEST_CASE("peer user: who has gone is not taken for root") {
  connected_pair pair;
  const auto accepted = pair.accepted();
  pair.connects.reset();
  CHECK(user_of_peer(accepted.get()).found == peer_user::is::absent);
  CHECK(user_of_peer(pair.listens.get()).found == peer_user::is::untold);
}
