// OpenSSL reads and writes through a BIO of ours, because its own writes to sockets raise
// SIGPIPE. The functions called here are those that tls_guard.cpp does not stand before:
// what members send to each other is no stream of CAF's messages.
#include "actors/transport/tls/tls_stream.hpp"

#include "actors/transport/tls/c_deleter.hpp"

#include <fmt/format.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace clade {
namespace {

using stream_context = std::unique_ptr<SSL_CTX, c_deleter<SSL_CTX_free>>;

// Less than half of what RFC 8446 allows AES-GCM, in records of 16 KiB.
constexpr std::uint64_t default_key_bytes = std::uint64_t{128} << 30;

int socket_of(BIO* bio) {
  return static_cast<int>(reinterpret_cast<std::intptr_t>(BIO_get_data(bio)));
}

bool may_try_again() {
  return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

// A socket that is still connecting says EAGAIN, and why it could not connect then.
int send_without_signal(BIO* bio, const char* data, int size) {
  BIO_clear_retry_flags(bio);
  const auto sent =
      ::send(socket_of(bio), data, static_cast<std::size_t>(size), MSG_NOSIGNAL);
  if (sent < 0 && may_try_again())
    BIO_set_retry_write(bio);
  return static_cast<int>(sent);
}

int receive_some(BIO* bio, char* data, int size) {
  BIO_clear_retry_flags(bio);
  const auto received = ::recv(socket_of(bio), data, static_cast<std::size_t>(size), 0);
  if (received < 0 && may_try_again())
    BIO_set_retry_read(bio);
  if (received == 0)
    BIO_set_flags(bio, BIO_FLAGS_IN_EOF);
  return static_cast<int>(received);
}

long control(BIO* bio, int command, long, void*) {
  if (command == BIO_CTRL_EOF)
    return BIO_test_flags(bio, BIO_FLAGS_IN_EOF) != 0 ? 1 : 0;
  return command == BIO_CTRL_FLUSH ? 1 : 0;
}

int is_ready(BIO* bio) {
  BIO_set_init(bio, 1);
  return 1;
}

BIO* new_socket_bio(int socket) {
  static BIO_METHOD* const method = [] {
    auto* made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "clade socket");
    if (made != nullptr) {
      BIO_meth_set_write(made, send_without_signal);
      BIO_meth_set_read(made, receive_some);
      BIO_meth_set_ctrl(made, control);
      BIO_meth_set_create(made, is_ready);
    }
    return made;
  }();
  auto* bio = method == nullptr ? nullptr : BIO_new(method);
  if (bio != nullptr)
    BIO_set_data(bio, reinterpret_cast<void*>(static_cast<std::intptr_t>(socket)));
  return bio;
}

std::string first_reason() {
  const auto code = ERR_peek_error();
  const char* reason = code == 0 ? nullptr : ERR_reason_error_string(code);
  return reason == nullptr ? "OpenSSL gives no reason" : reason;
}

expected<stream_context> context_of(const key_files& keys) {
  ERR_clear_error();
  stream_context made(SSL_CTX_new(TLS_method()));
  auto* c = made.get();
  if (!made || SSL_CTX_set_min_proto_version(c, TLS1_2_VERSION) != 1
      || SSL_CTX_set_cipher_list(c, "ECDHE+AESGCM:ECDHE+CHACHA20") != 1
      // The shorter key costs less time.
      || SSL_CTX_set_ciphersuites(c, "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:"
                                     "TLS_CHACHA20_POLY1305_SHA256")
             != 1)
    return fail(error_kind::internal, "no TLS: " + first_reason());
  if (SSL_CTX_load_verify_locations(c, keys.authority.c_str(), nullptr) != 1
      || SSL_CTX_use_certificate_chain_file(c, keys.certificate.c_str()) != 1
      || SSL_CTX_use_PrivateKey_file(c, keys.key.c_str(), SSL_FILETYPE_PEM) != 1)
    return fail(error_kind::invalid_input,
                fmt::format("{}: {}", keys.certificate.string(), first_reason()));
  SSL_CTX_set_verify(c, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  // Members are workers on both sides, whose certificates are for clients of TLS.
  SSL_CTX_set_purpose(c, X509_PURPOSE_SSL_CLIENT);
  SSL_CTX_set_options(c, SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION);
  SSL_CTX_set_num_tickets(c, 0);
  SSL_CTX_set_session_cache_mode(c, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_mode(c,
                   SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  return made;
}

bool was_closed(int why, unsigned long code, int system_error) {
  return why == SSL_ERROR_ZERO_RETURN
         || (ERR_GET_LIB(code) == ERR_LIB_SSL
             && ERR_GET_REASON(code) == SSL_R_UNEXPECTED_EOF_WHILE_READING)
         || (why == SSL_ERROR_SYSCALL && code == 0 && system_error == 0);
}

std::string end_of(const SSL* ssl, int why, int system_error) {
  const auto code = ERR_peek_error();
  if (const long verdict = SSL_get_verify_result(ssl); verdict != X509_V_OK)
    return fmt::format("its certificate is not a worker's of this run's authority ({})",
                       X509_verify_cert_error_string(verdict));
  if (was_closed(why, code, system_error))
    return "it closed the connection";
  if (why == SSL_ERROR_SYSCALL && code == 0)
    return std::strerror(system_error);
  return fmt::format("TLS failed ({})", first_reason());
}

} // namespace

void tls_stream::free_ssl::operator()(ssl_st* ssl) const {
  SSL_free(ssl);
}

tls_stream::tls_stream(unique_fd socket, std::unique_ptr<ssl_st, free_ssl> ssl)
    : socket_(std::move(socket)),
      ssl_(std::move(ssl)),
      read_events_(POLLIN),
      write_events_(POLLOUT),
      key_bytes_(default_key_bytes) {}

tls_stream::tls_stream(tls_stream&&) noexcept = default;
tls_stream& tls_stream::operator=(tls_stream&&) noexcept = default;
tls_stream::~tls_stream() = default;

expected<tls_stream> tls_stream::over(unique_fd socket, const key_files& keys,
                                      tls_side side) {
  const auto context = context_of(keys);
  if (!context)
    return tl::unexpected(context.error());
  std::unique_ptr<ssl_st, free_ssl> ssl(SSL_new(context->get()));
  auto* bio = ssl ? new_socket_bio(socket.get()) : nullptr;
  if (bio == nullptr)
    return fail(error_kind::internal, "no memory for a TLS connection");
  SSL_set_bio(ssl.get(), bio, bio);
  if (side == tls_side::client)
    SSL_set_connect_state(ssl.get());
  else
    SSL_set_accept_state(ssl.get());
  return tls_stream(std::move(socket), std::move(ssl));
}

expected<void> tls_stream::check(const key_files& keys) {
  return context_of(keys).map([](const stream_context&) {});
}

/// `result` says that the last call was not successful.
tls_step tls_stream::not_done(int result, short& events) {
  const int system_error = errno;
  const int why = SSL_get_error(ssl_.get(), result);
  if (why == SSL_ERROR_WANT_READ || why == SSL_ERROR_WANT_WRITE) {
    events = why == SSL_ERROR_WANT_READ ? POLLIN : POLLOUT;
    return tls_step::waiting;
  }
  why_ended_ = end_of(ssl_.get(), why, system_error);
  ERR_clear_error();
  return tls_step::ended;
}

tls_step tls_stream::shake_hands() {
  ERR_clear_error();
  errno = 0;
  const int result = SSL_do_handshake(ssl_.get());
  if (result != 1)
    return not_done(result, read_events_);
  read_events_ = POLLIN;
  return tls_step::done;
}

tls_step tls_stream::read(std::span<std::byte>& to) {
  while (!to.empty()) {
    ERR_clear_error();
    errno = 0;
    std::size_t count = 0;
    const int result = SSL_read_ex(ssl_.get(), to.data(), to.size(), &count);
    if (result != 1)
      return not_done(result, read_events_);
    read_events_ = POLLIN;
    to = to.subspan(count);
  }
  return tls_step::done;
}

tls_step tls_stream::write(std::span<const std::byte>& from) {
  while (!from.empty()) {
    ERR_clear_error();
    errno = 0;
    std::size_t count = 0;
    const int result = SSL_write_ex(ssl_.get(), from.data(), from.size(), &count);
    if (result != 1)
      return not_done(result, write_events_);
    write_events_ = POLLOUT;
    from = from.subspan(count);
    count_written(count);
  }
  return tls_step::done;
}

void tls_stream::count_written(std::uint64_t bytes) {
  written_with_key_ += bytes;
  if (written_with_key_ < key_bytes_)
    return;
  written_with_key_ = 0;
  // TLS 1.2 has none, and is not spoken between two members of the same build.
  if (SSL_version(ssl_.get()) == TLS1_3_VERSION)
    SSL_key_update(ssl_.get(), SSL_KEY_UPDATE_NOT_REQUESTED);
}

std::uint64_t tls_stream::wire_bytes_sent() const {
  return BIO_number_written(SSL_get_wbio(ssl_.get()));
}

} // namespace clade
