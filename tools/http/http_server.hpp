#pragma once

#include "genome/base/error.hpp"

#include <httplib.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

namespace clade {

struct http_server_params {
  std::string host = "127.0.0.1";
  std::uint16_t port = 0; ///< 0: any that is free.
  /// PEM files; both empty: no TLS.
  std::filesystem::path certificate{}, key{};
  /// Each connection keeps one.
  std::size_t threads = 64;
  /// With one who sends or takes nothing more.
  std::chrono::seconds patience{5};
  /// The bytes of one request.
  std::uint64_t most_body_bytes = 64 << 10;
  std::size_t requests_of_connection = 10'000;
};

/// A server of HTTP, or HTTPS: the one place where the library is set up, with bounds on
/// all that somebody may send it. Its answers have the headers of `headers_of_all`; what
/// the library itself refuses it answers in a sentence, as {"error": SENTENCE}.
class http_server {
public:
  /// Takes the port, which it shares with no other process. `conflict`: it cannot be had;
  /// `invalid_input`: the files are no certificate and its key.
  [[nodiscard]] static expected<std::unique_ptr<http_server>>
  listen(const http_server_params& params);
  virtual ~http_server() = default;

  [[nodiscard]] virtual std::uint16_t port() const = 0;

  /// Answers a request, and returns whether it has. It may not read the body.
  using look = std::function<bool(const httplib::Request&, httplib::Response&)>;
  /// Has each request shown to `first` before its body is read and a route found. Before
  /// `start`.
  virtual void look_first(look first) = 0;
  /// The server to which routes are added. Before `start`. Handlers answer by the
  /// functions of tools/http/answers.hpp.
  [[nodiscard]] virtual httplib::Server& routes() = 0;

  /// Answers, in threads of its own, until `stop`, or its end.
  virtual void start() = 0;
  /// Returns whether it listened until now.
  virtual bool stop() = 0;
};

} // namespace clade
