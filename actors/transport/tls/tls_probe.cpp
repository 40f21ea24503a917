#include "actors/transport/tls/tls_probe.hpp"

#include "actors/transport/tls/c_deleter.hpp"
#include "genome/base/unique_fd.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <netdb.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <functional>
#include <memory>
#include <utility>

namespace clade {
namespace {

using clock = std::chrono::steady_clock;

using context_pointer = std::unique_ptr<SSL_CTX, c_deleter<SSL_CTX_free>>;
using ssl_pointer = std::unique_ptr<SSL, c_deleter<SSL_free>>;

bool wait_for(int descriptor, short events, clock::time_point until) {
  for (;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(until - clock::now());
    pollfd p{.fd = descriptor, .events = events, .revents = 0};
    const int ready = ::poll(
        &p, 1, static_cast<int>(std::max<long>(0, static_cast<long>(left.count()))));
    if (ready > 0)
      return true;
    if (ready == 0 || errno != EINTR)
      return false;
  }
}

tl::unexpected<error> unreachable(const std::string& why) {
  return fail(error_kind::refused, why + "; is the run going on, and this its address?");
}

expected<unique_fd> connect_to(const std::string& host, std::uint16_t port,
                               clock::time_point until) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (const int failed =
          ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
      failed != 0)
    return unreachable(::gai_strerror(failed));
  const std::unique_ptr<addrinfo, c_deleter<::freeaddrinfo>> all(found);
  int reason = ETIMEDOUT;
  for (const addrinfo* a = found; a != nullptr; a = a->ai_next) {
    unique_fd s(::socket(a->ai_family, a->ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC,
                         a->ai_protocol));
    if (::connect(s.get(), a->ai_addr, a->ai_addrlen) == 0)
      return s;
    reason = errno;
    if (reason != EINPROGRESS)
      continue;
    reason = ETIMEDOUT;
    socklen_t size = sizeof(reason);
    if (wait_for(s.get(), POLLOUT, until)
        && ::getsockopt(s.get(), SOL_SOCKET, SO_ERROR, &reason, &size) == 0
        && reason == 0)
      return s;
  }
  return unreachable(std::strerror(reason));
}

std::string queued_reason() {
  const auto code = ERR_peek_last_error();
  const char* reason = code == 0 ? nullptr : ERR_reason_error_string(code);
  return reason == nullptr ? "the connection was closed" : reason;
}

/// Whether the head said that our certificate is not good. Other alerts may be those of a
/// head that is ending.
bool is_about_certificates(unsigned long code) {
  constexpr std::array alerts{SSL_AD_BAD_CERTIFICATE,     SSL_AD_UNSUPPORTED_CERTIFICATE,
                              SSL_AD_CERTIFICATE_REVOKED, SSL_AD_CERTIFICATE_EXPIRED,
                              SSL_AD_CERTIFICATE_UNKNOWN, SSL_AD_UNKNOWN_CA,
                              SSL_AD_ACCESS_DENIED,       SSL_AD_CERTIFICATE_REQUIRED};
  return ERR_GET_LIB(code) == ERR_LIB_SSL
         && std::ranges::find(alerts, ERR_GET_REASON(code) - SSL_AD_REASON_OFFSET)
                != alerts.end();
}

/// Returns the meaning of a failed step of TLS for the person who holds `keys`.
tl::unexpected<error> refusal(const SSL* ssl, const key_files& keys) {
  const long verdict = SSL_get_verify_result(ssl);
  if (verdict != X509_V_OK)
    return fail(error_kind::conflict,
                fmt::format("the head's certificate is not of the authority in {} ({}): "
                            "these are the keys of another run",
                            keys.authority.string(),
                            X509_verify_cert_error_string(verdict)));
  if (is_about_certificates(ERR_peek_last_error()))
    return fail(error_kind::conflict,
                fmt::format("the head does not accept the certificate {} ({}): make a "
                            "new bundle with clade keys worker, or take this run's",
                            keys.certificate.string(), queued_reason()));
  return unreachable(queued_reason());
}

/// Repeats `step` until it is done (true), failed (false) or the time is over.
template<class Step>
expected<bool> drive(SSL* ssl, int descriptor, clock::time_point until, Step step) {
  for (;;) {
    const int done = step();
    if (done > 0)
      return true;
    const int why = SSL_get_error(ssl, done);
    if (why != SSL_ERROR_WANT_READ && why != SSL_ERROR_WANT_WRITE)
      return false;
    if (!wait_for(descriptor, why == SSL_ERROR_WANT_READ ? POLLIN : POLLOUT, until))
      return unreachable("it does not answer");
  }
}

} // namespace

expected<void> probe_tls(const std::string& host, std::uint16_t port,
                         const key_files& keys, std::chrono::milliseconds most) {
  const auto until = clock::now() + most;
  const context_pointer context(SSL_CTX_new(TLS_client_method()));
  if (!context
      || SSL_CTX_load_verify_locations(context.get(), keys.authority.c_str(), nullptr)
             != 1
      || SSL_CTX_use_certificate_chain_file(context.get(), keys.certificate.c_str()) != 1
      || SSL_CTX_use_PrivateKey_file(context.get(), keys.key.c_str(), SSL_FILETYPE_PEM)
             != 1)
    return fail(error_kind::invalid_input,
                fmt::format("{}: {}", keys.certificate.string(), queued_reason()));
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
  auto socket = connect_to(host, port, until);
  if (!socket)
    return tl::unexpected(std::move(socket).error());
  const ssl_pointer ssl(SSL_new(context.get()));
  if (!ssl || SSL_set_fd(ssl.get(), socket->get()) != 1)
    return fail(error_kind::internal, "no memory for a TLS connection");
  char first = 0;
  for (const auto& step :
       {std::function<int()>([&] { return SSL_connect(ssl.get()); }),
        std::function<int()>([&] { return SSL_read(ssl.get(), &first, 1); })}) {
    auto done = drive(ssl.get(), socket->get(), until, step);
    if (!done)
      return tl::unexpected(std::move(done).error());
    if (!*done)
      return refusal(ssl.get(), keys);
  }
  SSL_shutdown(ssl.get());
  return {};
}

} // namespace clade
