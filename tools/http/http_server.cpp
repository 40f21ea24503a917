// The library's servers hand a socket to a virtual function, which reads requests through
// streams of the library's own. Here it is ours, with streams that have bounds
// (http_connection.hpp). Large bodies have room for some at a time; what finds none is
// refused before it is read.
#include "tools/http/http_server.hpp"

#include "genome/base/unique_fd.hpp"
#include "tools/http/answers.hpp"
#include "tools/http/body_rules.hpp"
#include "tools/http/http_connection.hpp"

#include <fmt/format.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <type_traits>
#include <utility>

namespace clade {

namespace {

using namespace std::chrono_literals;

/// Before the first request of a connection, and between two: who says nothing holds a
/// thread.
constexpr std::chrono::milliseconds first_time = 2s, idle_time = 1s;
/// A body of so many bytes is always taken.
constexpr std::uint64_t small_body_bytes = 1 << 20;
/// The bytes of all larger ones that are read or answered at a time.
constexpr std::uint64_t most_large_bytes = 64 << 20;

/// How the library's handlers, which are shown the request alone, learn that there is no
/// room for its body. Whoever sends it gets the same answer.
constexpr const char* no_room_header = "Clade-No-Room";

/// The library answers nothing that it has not read.
std::string head_too_long() {
  const std::string body = R"({"error":"the headers of a request have 64 KiB at most"})";
  return fmt::format(
      "HTTP/1.1 431 Request Header Fields Too Large\r\nConnection: "
      "close\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{}",
      body.size(), body);
}

/// Room in memory for some bytes, until it is destroyed.
class reservation {
public:
  explicit reservation(std::atomic<std::uint64_t>& taken) : taken_(taken) {}
  reservation(const reservation&) = delete;
  reservation& operator=(const reservation&) = delete;
  ~reservation() { taken_ -= bytes_; }

  [[nodiscard]] bool take(std::uint64_t bytes) {
    if (taken_.fetch_add(bytes) + bytes > most_large_bytes) {
      taken_ -= bytes;
      return false;
    }
    bytes_ += bytes;
    return true;
  }

private:
  std::atomic<std::uint64_t>& taken_;
  std::uint64_t bytes_ = 0;
};

/// `Base`: httplib::Server, or httplib::SSLServer.
template<class Base>
class bounded_server final : public Base {
public:
  template<class... Arguments>
  explicit bounded_server(const http_server_params& p, Arguments... arguments)
      : Base(arguments...),
        patience_(p.patience),
        most_body_bytes_(p.most_body_bytes) {}

private:
  bool process_and_close_socket(socket_t socket) override {
    const unique_fd owner(socket);
    std::unique_ptr<SSL, decltype(&SSL_free)> tls(nullptr, SSL_free);
    if constexpr (std::is_same_v<Base, httplib::SSLServer>) {
      tls.reset(SSL_new(this->ssl_context()));
      if (!tls)
        return false;
    }
    http_connection connection(
        {.socket = socket, .tls = tls.get(), .patience = patience_, .stopping = [this] {
           return this->svr_sock_ == INVALID_SOCKET;
         }});
    return connection.begin() && serve(connection);
  }

  /// Answers its requests, one after the other.
  bool serve(http_connection& connection) {
    auto idle = first_time;
    for (auto left = this->keep_alive_max_count_; left > 0; --left) {
      const auto came = connection.await_request(std::exchange(idle, idle_time));
      if (came == http_connection::next::end)
        break;
      if (came == http_connection::next::too_long) {
        const auto answer = head_too_long();
        connection.write(answer.data(), answer.size());
        break;
      }
      reservation room(large_bytes_);
      bool closed = false;
      const bool answered = this->process_request(
          connection, left == 1, closed, [&](httplib::Request& req) {
            const auto bytes = body_bytes(req);
            connection.expect_body(bytes);
            if (bytes && *bytes > small_body_bytes && *bytes <= most_body_bytes_
                && !room.take(*bytes))
              req.set_header(no_room_header, "1");
          });
      if (!answered || closed || !connection.is_read())
        break;
    }
    connection.end();
    return true;
  }

  std::chrono::milliseconds patience_;
  std::uint64_t most_body_bytes_;
  std::atomic<std::uint64_t> large_bytes_ = 0;
};

/// Answers a body that may not be read.
bool refuse_body(const httplib::Request& req, httplib::Response& res,
                 std::uint64_t most) {
  if (const auto refused = judge_body(req, most)) {
    give_error(res, refused->status, refused->why);
    return true;
  }
  if (!req.has_header(no_room_header))
    return false;
  res.set_header("Retry-After", "1");
  give_error(res, 503, "too much is sent at once; send it again");
  return true;
}

/// Answers what the library has refused, with the status that it chose.
void give_refusal(const httplib::Request& req, httplib::Response& res) {
  // It may not have read all of it.
  if (res.status != 404)
    res.set_header("Connection", "close");
  if (res.status == 400 && req.path.empty() && !req.method.empty()) {
    // The library reads no further than a method that it does not know.
    res.set_header("Allow", "DELETE, GET, POST");
    return give_error(res, 405, "there is no method " + req.method);
  }
  const auto* sentence = res.status == 413   ? "a form has 8 KiB at most"
                         : res.status == 414 ? "an address has 8 KiB at most"
                                             : "this is no request that is answered here";
  give_error(res, res.status,
             res.status == 404 ? fmt::format("there is no {} {}", req.method, req.path)
                               : sentence);
}

class bounded_http_server final : public http_server {
public:
  bounded_http_server(const http_server_params& p,
                      std::unique_ptr<httplib::Server> server)
      : server_(std::move(server)) {
    server_->new_task_queue = [threads = p.threads] {
      return new httplib::ThreadPool(threads);
    };
    server_->set_keep_alive_max_count(p.requests_of_connection);
    server_->set_payload_max_length(p.most_body_bytes);
    server_->set_default_headers(headers_of_all());
    server_->set_pre_routing_handler([this, most = p.most_body_bytes](const auto& req,
                                                                      auto& res) {
      using then = httplib::Server::HandlerResponse;
      const bool answered = (first_ && first_(req, res)) || refuse_body(req, res, most);
      // The connection ends with a body that nobody reads.
      if (answered && body_bytes(req) != 0)
        res.set_header("Connection", "close");
      return answered ? then::Handled : then::Unhandled;
    });
    server_->set_error_handler([](const auto& req, auto& res) {
      if (res.body.empty() && !res.content_provider_)
        give_refusal(req, res);
    });
    server_->set_exception_handler([](const auto&, auto& res, const auto&) {
      give_error(res, 500, "the server cannot answer this request");
    });
  }
  ~bounded_http_server() override { stop(); }

  [[nodiscard]] bool bind(const std::string& host, std::uint16_t port) {
    // Connections inherit it, so it is set before: an answer is sent in two parts, of which
    // the second would wait until the client has confirmed the first, which that puts off
    // for 40 ms.
    server_->set_tcp_nodelay(true);
    // The library's own options would share the port with whoever has it.
    server_->set_socket_options([](socket_t s) {
      const int yes = 1;
      ::setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    });
    if (port != 0) {
      port_ = port;
      return server_->bind_to_port(host, port);
    }
    const int any = server_->bind_to_any_port(host);
    port_ = static_cast<std::uint16_t>(std::max(any, 0));
    return any > 0;
  }

  [[nodiscard]] std::uint16_t port() const override { return port_; }
  void look_first(look first) override { first_ = std::move(first); }
  [[nodiscard]] httplib::Server& routes() override { return *server_; }

  void start() override {
    listens_ =
        std::async(std::launch::async, [this] { return server_->listen_after_bind(); });
  }

  bool stop() override {
    if (!listens_.valid())
      return true;
    // Before it runs it cannot be stopped; it may also have ended by itself.
    while (!server_->is_running()
           && listens_.wait_for(1ms) != std::future_status::ready) {
    }
    server_->stop();
    return listens_.get();
  }

private:
  std::unique_ptr<httplib::Server> server_;
  look first_;
  std::uint16_t port_ = 0;
  std::future<bool> listens_;
};

std::unique_ptr<httplib::Server> make_server(const http_server_params& p) {
  if (p.certificate.empty())
    return std::make_unique<bounded_server<httplib::Server>>(p);
  return std::make_unique<bounded_server<httplib::SSLServer>>(p, p.certificate.c_str(),
                                                              p.key.c_str());
}

} // namespace

expected<std::unique_ptr<http_server>>
http_server::listen(const http_server_params& params) {
  auto server = make_server(params);
  if (!server->is_valid())
    return fail(error_kind::invalid_input,
                fmt::format("{} and {} are no certificate and its key (PEM)",
                            params.certificate.string(), params.key.string()));
  auto made = std::make_unique<bounded_http_server>(params, std::move(server));
  if (!made->bind(params.host, params.port))
    return fail(error_kind::conflict,
                fmt::format("port {} of {} cannot be had", params.port, params.host));
  return made;
}

} // namespace clade
