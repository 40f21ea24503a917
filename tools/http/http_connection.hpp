#pragma once

#include <httplib.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace clade {

/// A connection of a server, through which the library reads requests and writes answers.
/// The library bounds neither the lines nor the number of the headers, and waits for each
/// byte anew; this does: it hands a request over once its whole head is there, and then
/// not one byte more than the body was said to have.
///
/// Blocks; for the thread that answers. The socket and what TLS there is are the caller's.
class http_connection final : public httplib::Stream {
public:
  struct params {
    int socket = -1;    ///< Is made one that does not block.
    SSL* tls = nullptr; ///< None: plain text.
    /// With one who sends or takes nothing more; so long a whole head may take.
    std::chrono::milliseconds patience{5000};
    std::function<bool()> stopping; ///< Then nothing more is waited for.
  };
  explicit http_connection(params p);

  /// The bytes of a head, with the line of the request.
  static constexpr std::size_t most_head_bytes = 64 << 10;

  /// Shakes hands where there is TLS. False: the other side cannot, or takes too long.
  [[nodiscard]] bool begin();

  enum class next { request, too_long, end };
  /// Waits for the head of the next request, whose first byte comes within `idle`. A Range
  /// is taken out of it, as a server may ignore it (RFC 9110, 14.2): the library asks for
  /// parts of answers that have none, and reads ranges with a recursion as deep as they are
  /// long.
  [[nodiscard]] next await_request(std::chrono::milliseconds idle);

  /// Expects the body that follows the head. None: nobody knows how much.
  void expect_body(std::optional<std::uint64_t> bytes);

  /// Whether the request was read to its end, so that another one may follow it.
  [[nodiscard]] bool is_read() const { return understood_ && left_ == 0; }

  /// Ends the connection. The rest of a request that is still sent is read for a while
  /// and forgotten, without which the other side may lose the answer.
  void end();

  bool is_readable() const override;
  bool is_writable() const override;
  ssize_t read(char* to, std::size_t size) override;
  ssize_t write(const char* from, std::size_t size) override;
  void get_remote_ip_and_port(std::string& ip, int& port) const override;
  void get_local_ip_and_port(std::string& ip, int& port) const override;
  socket_t socket() const override { return params_.socket; }

private:
  using clock = std::chrono::steady_clock;

  [[nodiscard]] bool await(short events, clock::time_point until) const;
  [[nodiscard]] bool await_again(int result, short events, clock::time_point until) const;
  [[nodiscard]] bool fill(clock::time_point until);
  [[nodiscard]] std::optional<std::size_t> head_bytes() const;

  params params_;
  std::string came_; ///< And was not read yet.
  std::size_t at_ = 0;
  std::uint64_t left_ = 0; ///< Bytes of the request that may be read.
  bool in_request_ = false, understood_ = false;
  clock::time_point until_{};
};

} // namespace clade
