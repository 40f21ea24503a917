#include "tools/views/metrics/metrics_server.hpp"

#include "tools/views/metrics/prometheus_text.hpp"
#include "tools/views/web/web_answers.hpp"

#include <httplib.h>

#include <chrono>
#include <mutex>
#include <thread>

namespace clade {

namespace {

using namespace std::chrono_literals;

constexpr const char* loopback = "127.0.0.1";
constexpr auto refresh_interval = 250ms;

/// What is answered, between the thread of the feed and those of the server.
class page {
public:
  void set(std::string text) {
    const std::scoped_lock lock(mutex_);
    text_ = std::move(text);
  }
  [[nodiscard]] std::string text() const {
    const std::scoped_lock lock(mutex_);
    return text_;
  }

private:
  mutable std::mutex mutex_;
  std::string text_;
};

/// Those that connect and say nothing hold a thread each, for a second.
constexpr std::size_t threads = 64;
constexpr time_t patience_s = 2;

void answer_from(httplib::Server& server, const page& shown) {
  server.new_task_queue = [] { return new httplib::ThreadPool(threads); };
  server.set_keep_alive_timeout(1);
  server.set_read_timeout(patience_s);
  server.Get("/metrics", [&](const httplib::Request&, httplib::Response& answer) {
    answer.set_content(shown.text(), metrics_content_type);
  });
  // A page of another origin that found the port must not read it under a name of its
  // own.
  server.set_pre_routing_handler(
      [](const httplib::Request& asked, httplib::Response& answer) {
        ignore_ranges(asked);
        const auto host = asked.get_header_value("Host");
        const auto name = host.substr(0, host.rfind(':'));
        if (name == loopback || name == "localhost")
          return httplib::Server::HandlerResponse::Unhandled;
        answer.status = 403;
        return httplib::Server::HandlerResponse::Handled;
      });
}

/// Until it is to end.
expected<void> refresh(feed& from, page& shown, const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    const auto until = std::chrono::steady_clock::now() + refresh_interval;
    // What comes meanwhile waits for the next text: one costs more than a record.
    for (auto left = refresh_interval; left > 0ms && !stop.stop_requested();
         left = std::chrono::ceil<std::chrono::milliseconds>(
             until - std::chrono::steady_clock::now()))
      if (const auto came = from.wait(left); !came)
        return tl::unexpected(came.error());
    shown.set(metrics_text(from));
  }
  return {};
}

} // namespace

expected<void> serve_metrics(feed& from, const metrics_params& p) {
  page shown;
  shown.set(metrics_text(from));
  httplib::Server server;
  answer_from(server, shown);
  const auto port = bind_own_port(server, loopback, p.port);
  if (port == 0)
    return fail(error_kind::conflict,
                "port " + std::to_string(p.port)
                    + " of 127.0.0.1 cannot be had; --metrics 0 takes any that is free");
  std::jthread answering([&] { server.listen_after_bind(); });
  if (p.ready)
    p.ready("http://" + std::string(loopback) + ":" + std::to_string(port) + "/metrics");
  auto done = refresh(from, shown, p.stop);
  // To stop one that does not listen yet would be forgotten.
  while (!server.is_running())
    std::this_thread::yield();
  server.stop();
  return done;
}

} // namespace clade
