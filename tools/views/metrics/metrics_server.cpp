#include "tools/views/metrics/metrics_server.hpp"

#include "tools/http/answers.hpp"
#include "tools/http/http_server.hpp"
#include "tools/views/metrics/prometheus_text.hpp"

#include <fmt/format.h>

#include <chrono>
#include <mutex>

namespace clade {

namespace {

using namespace std::chrono_literals;

constexpr const char* loopback = "127.0.0.1";
constexpr auto refresh_interval = 250ms;

/// The text that is answered, between the thread of the feed and those of the server.
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

void answer_from(http_server& server, const page& shown) {
  server.routes().Get("/metrics", [&](const httplib::Request&, httplib::Response& res) {
    give(res, metrics_content_type, shown.text());
  });
  // A page of another origin that found the port must not read it under a name of its
  // own.
  server.look_first([](const httplib::Request& req, httplib::Response& res) {
    const auto host = req.get_header_value("Host");
    const auto name = host.substr(0, host.rfind(':'));
    if (name == loopback || name == "localhost")
      return false;
    give_error(res, 403, "ask " + std::string(loopback));
    return true;
  });
}

/// Until it is to end.
expected<void> refresh(feed& from, page& shown, const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    const auto until = std::chrono::steady_clock::now() + refresh_interval;
    // Records that come meanwhile wait for the next text: one costs more than a record.
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
  // Clients that connect and say nothing hold a thread each, for that long.
  const auto server =
      http_server::listen({.host = loopback, .port = p.port, .patience = 2s});
  if (!server)
    return fail(
        error_kind::conflict,
        fmt::format(
            "port {} of 127.0.0.1 cannot be had; --metrics 0 takes any that is free",
            p.port));
  answer_from(**server, shown);
  (*server)->start();
  if (p.ready)
    p.ready(fmt::format("http://{}:{}/metrics", loopback, (*server)->port()));
  auto done = refresh(from, shown, p.stop);
  if (!(*server)->stop() && done)
    return fail(error_kind::io, "the server of metrics stopped listening");
  return done;
}

} // namespace clade
