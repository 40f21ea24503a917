#include "tools/http/http_connection.hpp"

#include <fcntl.h>
#include <netdb.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <strings.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <string_view>
#include <utility>

namespace clade {

namespace {

using namespace std::chrono_literals;

/// Between two looks at whether the server stops.
constexpr auto look = 100ms;
/// A body that comes slower than that holds a thread too long.
constexpr std::uint64_t least_bytes_per_second = 16 << 10;
constexpr std::chrono::seconds longest_body = 1h;
/// Whoever reads slowly is not cut sooner than that.
constexpr std::chrono::milliseconds least_write_patience = 5s;
/// The bytes that nobody reads.
constexpr std::size_t most_forgotten_bytes = 64 << 20;

/// The end of the blank line behind the headers, as the library sees it.
constexpr std::string_view end_of_head = "\n\r\n";

int int_of(std::size_t size) {
  return static_cast<int>(std::min<std::size_t>(size, INT_MAX));
}

/// The text without the lines that are a header of this name.
std::string without_header(std::string_view head, std::string_view name) {
  std::string kept;
  while (!head.empty()) {
    const auto line = head.substr(0, head.find('\n') + 1);
    head.remove_prefix(line.size());
    if (line.size() <= name.size() || line[name.size()] != ':'
        || ::strncasecmp(line.data(), name.data(), name.size()) != 0)
      kept += line;
  }
  return kept;
}

void read_address(int socket, decltype(&::getpeername) which, std::string& ip,
                  int& port) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  std::array<char, NI_MAXHOST> host{};
  std::array<char, NI_MAXSERV> service{};
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  if (which(socket, any, &size) != 0
      || ::getnameinfo(any, size, host.data(), host.size(), service.data(),
                       service.size(), NI_NUMERICHOST | NI_NUMERICSERV)
             != 0
      || address.ss_family == AF_UNIX)
    return;
  ip = host.data();
  port = std::atoi(service.data());
}

} // namespace

http_connection::http_connection(params p) : params_(std::move(p)) {
  if (const int flags = ::fcntl(params_.socket, F_GETFL); flags >= 0)
    ::fcntl(params_.socket, F_SETFL, flags | O_NONBLOCK);
  if (params_.tls == nullptr)
    return;
  SSL_set_fd(params_.tls, params_.socket);
  SSL_set_mode(params_.tls,
               SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
}

bool http_connection::begin() {
  if (params_.tls == nullptr)
    return true;
  const auto until = clock::now() + params_.patience;
  for (;;) {
    ERR_clear_error();
    const int done = SSL_accept(params_.tls);
    if (done == 1)
      return true;
    if (!await_again(done, POLLIN, until))
      return false;
  }
}

bool http_connection::await(short events, clock::time_point until) const {
  for (;;) {
    if (events == POLLIN && params_.stopping && params_.stopping())
      return false;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - clock::now());
    pollfd one{.fd = params_.socket, .events = events, .revents = 0};
    const int ready =
        ::poll(&one, 1,
               static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, look.count())));
    if (ready > 0)
      return true;
    if (ready < 0 && errno != EINTR)
      return false;
    if (left <= 0ms)
      return false;
  }
}

/// Waits after a call that came to nothing, if it may come to something then.
bool http_connection::await_again(int result, short events,
                                  clock::time_point until) const {
  if (params_.tls == nullptr)
    return result < 0 && (errno == EAGAIN || errno == EINTR) && await(events, until);
  switch (SSL_get_error(params_.tls, result)) {
  case SSL_ERROR_WANT_READ:
    return await(POLLIN, until);
  case SSL_ERROR_WANT_WRITE:
    return await(POLLOUT, until);
  default:
    return false;
  }
}

bool http_connection::fill(clock::time_point until) {
  std::array<char, 16 << 10> piece; // NOLINT: is written before it is read.
  for (;;) {
    ERR_clear_error();
    const auto got =
        params_.tls == nullptr
            ? static_cast<int>(::recv(params_.socket, piece.data(), piece.size(), 0))
            : SSL_read(params_.tls, piece.data(), int_of(piece.size()));
    if (got > 0) {
      came_.erase(0, std::exchange(at_, 0));
      came_.append(piece.data(), static_cast<std::size_t>(got));
      return true;
    }
    if (!await_again(got, POLLIN, until))
      return false;
  }
}

std::optional<std::size_t> http_connection::head_bytes() const {
  const auto end = came_.find(end_of_head, at_);
  return end == std::string::npos ? std::nullopt
                                  : std::optional(end + end_of_head.size() - at_);
}

http_connection::next http_connection::await_request(std::chrono::milliseconds idle) {
  in_request_ = understood_ = false;
  left_ = 0;
  if (at_ == came_.size() && !fill(clock::now() + idle))
    return next::end;
  in_request_ = true;
  until_ = clock::now() + params_.patience;
  auto bytes = head_bytes();
  for (; !bytes; bytes = head_bytes())
    if (came_.size() - at_ > most_head_bytes)
      return next::too_long;
    else if (!fill(until_))
      return next::end;
  if (*bytes > most_head_bytes)
    return next::too_long;
  const auto head = without_header(std::string_view(came_).substr(at_, *bytes), "range");
  came_.replace(at_, *bytes, head);
  left_ = head.size();
  return next::request;
}

void http_connection::expect_body(std::optional<std::uint64_t> bytes) {
  understood_ = bytes.has_value();
  left_ += bytes.value_or(0);
  until_ = clock::now() + params_.patience
           + std::min(longest_body,
                      std::chrono::seconds(bytes.value_or(0) / least_bytes_per_second));
}

void http_connection::end() {
  if (params_.tls != nullptr) {
    ERR_clear_error();
    SSL_shutdown(params_.tls);
  }
  ::shutdown(params_.socket, SHUT_WR);
  if (!in_request_ || is_read())
    return;
  const auto until = clock::now() + params_.patience;
  for (std::size_t forgotten = 0; forgotten < most_forgotten_bytes && fill(until);) {
    forgotten += came_.size();
    at_ = came_.size();
  }
}

bool http_connection::is_readable() const {
  return at_ < came_.size() || await(POLLIN, clock::now() + params_.patience);
}

bool http_connection::is_writable() const {
  return await(POLLOUT, clock::now() + params_.patience);
}

ssize_t http_connection::read(char* to, std::size_t size) {
  size = static_cast<std::size_t>(std::min<std::uint64_t>(size, left_));
  if (size == 0
      || (at_ == came_.size()
          && !fill(std::min(until_, clock::now() + params_.patience))))
    return -1;
  size = std::min(size, came_.size() - at_);
  std::copy_n(came_.data() + at_, size, to);
  at_ += size;
  left_ -= size;
  return static_cast<ssize_t>(size);
}

ssize_t http_connection::write(const char* from, std::size_t size) {
  if (size == 0)
    return 0;
  const auto until = clock::now() + std::max(params_.patience, least_write_patience);
  for (;;) {
    ERR_clear_error();
    const auto sent =
        params_.tls == nullptr ? static_cast<int>(::send(
            params_.socket, from, static_cast<std::size_t>(int_of(size)), MSG_NOSIGNAL))
                               : SSL_write(params_.tls, from, int_of(size));
    if (sent > 0)
      return sent;
    if (!await_again(sent, POLLOUT, until))
      return -1;
  }
}

void http_connection::get_remote_ip_and_port(std::string& ip, int& port) const {
  read_address(params_.socket, &::getpeername, ip, port);
}

void http_connection::get_local_ip_and_port(std::string& ip, int& port) const {
  read_address(params_.socket, &::getsockname, ip, port);
}

} // namespace clade
