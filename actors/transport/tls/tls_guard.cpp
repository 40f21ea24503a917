// These functions stand before OpenSSL's own of the same names, for CAF's library too,
// and keep what comes over the network from doing harm there:
//
//   * OpenSSL keeps a queue of errors for each thread and wants it empty before each call
//     whose result SSL_get_error is to explain. CAF 0.17 never empties it, and all its
//     connections share one thread: after one peer was killed, or sent garbage, the next
//     "nothing to read yet" of any other connection is taken for that error, and its
//     healthy peer is cut off. So the queue is emptied first.
//   * CAF waits for a handshake for ever: those that take too long are ended.
//   * CAF takes memory for whatever length a peer announces: what is read is followed as
//     far as the lengths in its headers (32 bytes, the length at the fifth to eighth in
//     network order), and a connection that announces too much is ended. That is done for
//     what CAF's library reads: the address that SSL_read returns to says who called it.
//   * TCP keeps a connection to a peer that cannot be reached for a quarter of an hour:
//     those are ended sooner. And it keeps a short message back while an earlier one is
//     on its way, for which results and assignments would wait: it is told not to.
#include "actors/transport/tls/tls_guard.hpp"

#include "actors/transport/tls/stranger_guard.hpp"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

namespace {

using namespace std::chrono_literals;
using clock_type = std::chrono::steady_clock;

constexpr std::size_t header_bytes = 32, length_at = 4;
constexpr std::uint32_t most_payload = 512U << 20;
constexpr int unreachable_ms = 60'000;
constexpr std::size_t reports_per_second = 100;

/// OpenSSL's own function of that name.
template<class Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

/// Follows a stream of CAF's messages: headers and payloads.
struct frame_follower {
  std::array<unsigned char, header_bytes> header{};
  std::size_t in_header = 0;
  std::size_t payload = 0; ///< Still to come.

  /// False: a length in it is absurd.
  bool follow(const unsigned char* data, std::size_t size) {
    while (size > 0) {
      const bool inside = payload > 0;
      const auto part = std::min(size, inside ? payload : header_bytes - in_header);
      if (inside) {
        payload -= part;
      } else {
        std::memcpy(header.data() + in_header, data, part);
        in_header += part;
      }
      data += part;
      size -= part;
      if (in_header < header_bytes)
        continue;
      std::uint32_t length = 0;
      std::memcpy(&length, header.data() + length_at, sizeof length);
      payload = ntohl(length);
      in_header = 0;
      if (payload > most_payload)
        return false;
    }
    return true;
  }
};

struct connection_state {
  frame_follower frames;
  std::optional<bool> has_frames{}; ///< Known once something is read.
  /// The address of a peer that came to us. A peer that left has no address.
  std::string where;
  bool reported = false;
};

/// The facts that the guard knows of all connections of this process.
struct guard_state {
  std::mutex mutex;
  std::map<SSL*, clock_type::time_point> handshakes;
  std::function<void(const std::string&)> listener;
  clock_type::time_point second;
  std::size_t reports = 0;
};

/// The address at which the library begins whose connections carry CAF's messages; null:
/// there is none.
std::atomic<const void*> frames_library = nullptr;

const void* library_of(const void* code) {
  Dl_info found{};
  return dladdr(code, &found) == 0 ? nullptr : found.dli_fbase;
}

guard_state& guard() {
  static guard_state state;
  return state;
}

/// The state of a connection is freed with it.
void free_state(void* parent, void* state, CRYPTO_EX_DATA*, int, long, void*) {
  std::lock_guard lock(guard().mutex);
  guard().handshakes.erase(static_cast<SSL*>(parent));
  delete static_cast<connection_state*>(state);
}

connection_state& state_of(SSL* ssl) {
  static const int index =
      SSL_get_ex_new_index(0, nullptr, nullptr, nullptr, &free_state);
  auto* state = static_cast<connection_state*>(SSL_get_ex_data(ssl, index));
  if (state == nullptr) {
    state = new connection_state;
    SSL_set_ex_data(ssl, index, state);
  }
  return *state;
}

std::string address_of(int descriptor) {
  sockaddr_storage address{};
  socklen_t size = sizeof(address);
  char text[INET6_ADDRSTRLEN] = "?";
  if (::getpeername(descriptor, reinterpret_cast<sockaddr*>(&address), &size) != 0)
    return "an address that is gone";
  if (address.ss_family == AF_INET6) {
    const auto& v6 = reinterpret_cast<const sockaddr_in6&>(address);
    ::inet_ntop(AF_INET6, &v6.sin6_addr, text, sizeof(text));
    return fmt::format("{} port {}", text, ntohs(v6.sin6_port));
  }
  const auto& v4 = reinterpret_cast<const sockaddr_in&>(address);
  ::inet_ntop(AF_INET, &v4.sin_addr, text, sizeof(text));
  return fmt::format("{} port {}", text, ntohs(v4.sin_port));
}

/// The guard is locked.
void tell(const std::string& words) {
  auto& g = guard();
  const auto now = clock_type::now();
  if (now - g.second >= 1s) {
    if (g.listener && g.reports > reports_per_second)
      g.listener(fmt::format("refused {} more connections at that time",
                             g.reports - reports_per_second));
    g.second = now;
    g.reports = 0;
  }
  if (g.listener && g.reports++ < reports_per_second)
    g.listener("refused a connection from " + words);
}

/// Once for each connection. The guard is locked.
void report(connection_state& state, const std::string& reason) {
  if (!std::exchange(state.reported, true))
    tell(fmt::format("{}: {}", state.where, reason));
}

void refuse(SSL* ssl, const std::string& reason) {
  std::lock_guard lock(guard().mutex);
  report(state_of(ssl), reason);
}

/// Why a handshake failed, of OpenSSL's queue, which stays as it is.
std::string handshake_error(const SSL* ssl) {
  const long verdict = SSL_get_verify_result(ssl);
  if (verdict == X509_V_ERR_CERT_HAS_EXPIRED)
    return "its certificate is expired: copy the run's keys/worker to its machine again, "
           "or make it a bundle with clade keys worker";
  if (verdict != X509_V_OK)
    return fmt::format("its certificate is not of this run's authority ({}); it needs a "
                       "bundle of clade keys worker",
                       X509_verify_cert_error_string(verdict));
  const auto code = ERR_peek_error();
  const char* reason = code == 0 ? nullptr : ERR_reason_error_string(code);
  return reason == nullptr ? "it went away in the TLS handshake"
                           : fmt::format("no TLS handshake ({})", reason);
}

void tune(int descriptor) {
  const int yes = 1;
  ::setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
  ::setsockopt(descriptor, IPPROTO_TCP, TCP_USER_TIMEOUT, &unreachable_ms,
               sizeof(unreachable_ms));
}

} // namespace

extern "C" {

int SSL_read(SSL* ssl, void* buffer, int size) {
  static const auto original = next<int (*)(SSL*, void*, int)>("SSL_read");
  ERR_clear_error();
  const int count = original(ssl, buffer, size);
  if (count <= 0 || frames_library == nullptr)
    return count;
  auto& state = state_of(ssl);
  if (!state.has_frames)
    state.has_frames = library_of(__builtin_return_address(0)) == frames_library;
  if (*state.has_frames
      && !state.frames.follow(static_cast<const unsigned char*>(buffer),
                              static_cast<std::size_t>(count))) {
    refuse(ssl, "it announced a message of more than 512 MiB");
    ::shutdown(SSL_get_fd(ssl), SHUT_RDWR);
    return -1;
  }
  return count;
}

int SSL_write(SSL* ssl, const void* buffer, int size) {
  static const auto original = next<int (*)(SSL*, const void*, int)>("SSL_write");
  ERR_clear_error();
  return original(ssl, buffer, size);
}

int SSL_accept(SSL* ssl) {
  static const auto original = next<int (*)(SSL*)>("SSL_accept");
  ERR_clear_error();
  auto& state = state_of(ssl);
  if (state.where.empty())
    state.where = address_of(SSL_get_fd(ssl));
  const int done = original(ssl);
  if (done == 1) {
    tune(SSL_get_fd(ssl));
    clade::no_stranger(SSL_get_fd(ssl));
    std::lock_guard lock(guard().mutex);
    guard().handshakes.erase(ssl);
    return done;
  }
  const bool failed = SSL_get_error(ssl, done) != SSL_ERROR_WANT_READ
                      && SSL_get_error(ssl, done) != SSL_ERROR_WANT_WRITE;
  if (failed)
    refuse(ssl, handshake_error(ssl));
  std::lock_guard lock(guard().mutex);
  if (failed)
    guard().handshakes.erase(ssl);
  else
    guard().handshakes.try_emplace(ssl, clock_type::now());
  return done;
}

int SSL_connect(SSL* ssl) {
  static const auto original = next<int (*)(SSL*)>("SSL_connect");
  ERR_clear_error();
  const int done = original(ssl);
  if (done == 1)
    tune(SSL_get_fd(ssl));
  return done;
}

} // extern "C"

namespace clade {

bool tls_is_guarded() {
  return dlsym(RTLD_DEFAULT, "SSL_read") == reinterpret_cast<void*>(&SSL_read);
}

bool follow_frames_read_by(const void* function) {
  frames_library = library_of(function);
  return frames_library != nullptr
         && frames_library != library_of(reinterpret_cast<const void*>(&SSL_read));
}

void report_refusals(std::function<void(const std::string&)> listener) {
  std::lock_guard lock(guard().mutex);
  guard().listener = std::move(listener);
}

void tell_refusal(const std::string& words) {
  std::lock_guard lock(guard().mutex);
  tell(words);
}

void end_slow_handshakes(std::chrono::milliseconds most) {
  std::lock_guard lock(guard().mutex);
  auto& g = guard();
  const auto now = clock_type::now();
  std::erase_if(g.handshakes, [&](const auto& h) {
    if (now - h.second < most)
      return false;
    report(state_of(h.first), "its TLS handshake took too long");
    ::shutdown(SSL_get_fd(h.first), SHUT_RDWR);
    return true;
  });
}

void shut_connections(std::uint16_t port) {
  std::error_code failed;
  const auto has_port = [port](int descriptor, auto name_of) {
    sockaddr_in6 address{}; // An IPv4 address has its port at the same place.
    socklen_t size = sizeof(address);
    return name_of(descriptor, reinterpret_cast<sockaddr*>(&address), &size) == 0
           && (address.sin6_family == AF_INET || address.sin6_family == AF_INET6)
           && ntohs(address.sin6_port) == port;
  };
  for (std::filesystem::directory_iterator i("/proc/self/fd", failed), end;
       !failed && i != end; i.increment(failed)) {
    const int descriptor = std::atoi(i->path().filename().c_str());
    if (has_port(descriptor, ::getsockname) || has_port(descriptor, ::getpeername))
      ::shutdown(descriptor, SHUT_RDWR);
  }
}

} // namespace clade
