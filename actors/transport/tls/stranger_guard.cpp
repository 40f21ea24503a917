// These functions stand before libc's own of the same names, for CAF's library, ZeroMQ's
// and the web server too. They bound what strangers, who connect and have not shown keys
// yet, cost a process: its descriptors, without which it cannot go on, and the time that
// a TLS session takes to be set up.
//
//   * So many may be connected at once, of one of them and in all: the oldest is cut off
//     for the newest. After `proof_time` one is no stranger any more, since each protocol
//     has ended those by then that did not show keys.
//   * Whoever connects more often than a fleet of nodes would is refused, but where
//     somebody is known who comes from the same address. Users of this machine, who all
//     have its address, count each for themselves.
//   * Some descriptors are kept for the store, for files and for links. If none is left
//     at all, those that wait are refused instead of being left to wait: CAF 0.17 would
//     close its port at the first error of accept.
#include "actors/transport/tls/stranger_guard.hpp"

#include "actors/transport/tls/peer_user.hpp"
#include "actors/transport/tls/stranger_list.hpp"
#include "actors/transport/tls/tls_guard.hpp"
#include "genome/base/unique_fd.hpp"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace {

clade::stranger_limits limits_now() {
  rlimit files{};
  const bool known = ::getrlimit(RLIMIT_NOFILE, &files) == 0;
  // Strangers may have a share of the descriptors that this process may have.
  const auto most =
      static_cast<std::size_t>(std::min<rlim_t>(known ? files.rlim_cur : 1024, 1U << 20));
  const auto all = std::min<std::size_t>(most / 4, 256);
  const auto reserve = std::clamp<std::size_t>(most / 8, 2, 128);
  return {.all = all, .of_one = all * 3 / 4, .kept = static_cast<int>(most - reserve)};
}

/// The strangers of this process, for all its threads.
class guarded_strangers {
public:
  /// Whether this connection, just accepted, may stay.
  bool admit(clade::stranger s) {
    const auto limits = limits_now();
    std::lock_guard lock(mutex_);
    return list_.admit(std::move(s), limits, clade::stranger_list::clock::now());
  }

  void forget(int descriptor) {
    std::lock_guard lock(mutex_);
    list_.forget(descriptor);
  }

  void vouch_for(const std::string& address, std::uint16_t port) {
    std::lock_guard lock(mutex_);
    list_.vouch_for(address, port);
  }

  void admit_own_user_only(std::uint16_t port) {
    std::lock_guard lock(mutex_);
    own_ports_.insert(port);
  }

  bool is_own_users(std::uint16_t port) {
    std::lock_guard lock(mutex_);
    return own_ports_.contains(port);
  }

  /// Refuses one that waits at this socket, with the descriptor that is kept for that.
  template<class Accept>
  void refuse_waiting(Accept accept_one) {
    std::lock_guard lock(mutex_);
    spare_.reset();
    clade::unique_fd(accept_one()).reset();
    keep_spare();
  }

  void have_spare() {
    std::lock_guard lock(mutex_);
    if (!spare_)
      keep_spare();
  }

private:
  void keep_spare() { spare_.reset(::open("/dev/null", O_RDONLY | O_CLOEXEC)); }

  std::mutex mutex_;
  clade::stranger_list list_;
  std::set<std::uint16_t> own_ports_;
  clade::unique_fd spare_;
};

guarded_strangers& strangers() {
  static guarded_strangers all;
  return all;
}

/// How an address is counted. Whoever has one of IPv6 has all of its network's, but for
/// those that are IPv4's.
std::string counted_as(const in_addr& v4) {
  char text[INET_ADDRSTRLEN] = "?";
  ::inet_ntop(AF_INET, &v4, text, sizeof(text));
  return text;
}

std::string counted_as(in6_addr v6) {
  if (!IN6_IS_ADDR_V4MAPPED(&v6))
    std::fill_n(v6.s6_addr + 8, 8, std::uint8_t{0});
  char text[INET6_ADDRSTRLEN] = "?";
  ::inet_ntop(AF_INET6, &v6, text, sizeof(text));
  return text;
}

/// The address of a peer as it is counted and its port, and the port that it came to; none
/// where it came by no network.
struct arrival {
  std::string address;
  std::uint16_t from = 0, to = 0;
};

std::optional<arrival> arrival_of(int descriptor) {
  sockaddr_storage peer{}, own{};
  socklen_t size = sizeof(peer), own_size = sizeof(own);
  if (::getpeername(descriptor, reinterpret_cast<sockaddr*>(&peer), &size) != 0
      || ::getsockname(descriptor, reinterpret_cast<sockaddr*>(&own), &own_size) != 0)
    return arrival{"an address that is gone", 0, 0};
  if (peer.ss_family == AF_INET) {
    const auto& four = reinterpret_cast<const sockaddr_in&>(peer);
    return arrival{counted_as(four.sin_addr), ntohs(four.sin_port),
                   ntohs(reinterpret_cast<const sockaddr_in&>(own).sin_port)};
  }
  if (peer.ss_family != AF_INET6)
    return std::nullopt;
  const auto& six = reinterpret_cast<const sockaddr_in6&>(peer);
  return arrival{counted_as(six.sin6_addr), ntohs(six.sin6_port),
                 ntohs(reinterpret_cast<const sockaddr_in6&>(own).sin6_port)};
}

bool may_stay(int descriptor) {
  const auto from = arrival_of(descriptor);
  if (!from)
    return true;
  const auto peer = clade::user_of_peer(descriptor);
  const bool own_user = peer.is_known() && (peer.user == ::geteuid() || peer.user == 0);
  if (!own_user && peer.found != clade::peer_user::is::untold
      && strangers().is_own_users(from->to)) {
    // A scan has closed its end before anybody can ask whose it was.
    clade::tell_refusal(
        from->address
        + (peer.is_known() ? ": it is of another user of this machine"
                           : fmt::format(" port {}: it has ended already", from->from)));
    return false;
  }
  const auto who =
      peer.is_known() ? fmt::format("user {} of this machine", peer.user) : from->address;
  if (strangers().admit({.descriptor = descriptor,
                         .who = who,
                         .own_user = own_user,
                         .address = from->address,
                         .port = from->from}))
    return true;
  clade::tell_refusal(who + ": too many came from there at once");
  return false;
}

/// Says that nobody is there to be accepted. CAF closes its port at any other error than
/// EAGAIN; the web server, whose sockets block, as ZeroMQ's do, at any other than EMFILE.
int nobody_at(int socket) {
  errno = (::fcntl(socket, F_GETFL) & O_NONBLOCK) != 0 ? EAGAIN : EMFILE;
  return -1;
}

bool has_more(int socket) {
  pollfd waiting{.fd = socket, .events = POLLIN, .revents = 0};
  return ::poll(&waiting, 1, 0) == 1 && (waiting.revents & POLLIN) != 0;
}

/// `accept_one` as long as it gives strangers that may not stay. ZeroMQ's thread must not
/// wait here for one who may.
template<class Accept>
int accept_friends(int socket, Accept accept_one) {
  strangers().have_spare();
  do {
    const int accepted = accept_one();
    if (accepted < 0 && (errno == EMFILE || errno == ENFILE)) {
      strangers().refuse_waiting(accept_one);
      return nobody_at(socket);
    }
    if (accepted < 0 || may_stay(accepted))
      return accepted;
    ::close(accepted);
  } while (has_more(socket));
  return nobody_at(socket);
}

template<class Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

} // namespace

extern "C" {

int accept(int socket, sockaddr* address, socklen_t* size) {
  static const auto original = next<int (*)(int, sockaddr*, socklen_t*)>("accept");
  const auto room = size == nullptr ? 0 : *size;
  return accept_friends(socket, [&] {
    if (size != nullptr)
      *size = room;
    return original(socket, address, size);
  });
}

int accept4(int socket, sockaddr* address, socklen_t* size, int flags) {
  static const auto original = next<int (*)(int, sockaddr*, socklen_t*, int)>("accept4");
  const auto room = size == nullptr ? 0 : *size;
  return accept_friends(socket, [&] {
    if (size != nullptr)
      *size = room;
    return original(socket, address, size, flags);
  });
}

} // extern "C"

namespace clade {

bool accepting_is_guarded() {
  return dlsym(RTLD_DEFAULT, "accept4") == reinterpret_cast<void*>(&accept4);
}

void no_stranger(int descriptor) {
  strangers().forget(descriptor);
}

void vouch_for(const std::string& address, std::uint16_t port) {
  in_addr v4{};
  in6_addr v6{};
  if (::inet_pton(AF_INET, address.c_str(), &v4) == 1)
    strangers().vouch_for(counted_as(v4), port);
  else if (::inet_pton(AF_INET6, address.substr(0, address.find('%')).c_str(), &v6) == 1)
    strangers().vouch_for(counted_as(v6), port);
}

void admit_own_user_only(std::uint16_t port) {
  strangers().admit_own_user_only(port);
}

} // namespace clade
