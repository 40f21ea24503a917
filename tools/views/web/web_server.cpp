#include "tools/views/web/web_server.hpp"

#include "engine/report/text/json.hpp"
#include "engine/telemetry/feeds/json.hpp"
#include "tools/http/answers.hpp"
#include "tools/http/http_server.hpp"
#include "tools/views/web/feed_executor.hpp"
#include "tools/views/web/page_files.hpp"
#include "tools/views/web/web_access.hpp"
#include "tools/views/web/web_news.hpp"
#include "tools/views/web/web_page.hpp"
#include "tools/views/web/web_stream.hpp"
#include "tools/views/web/web_work.hpp"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

// Threads of the library take requests. The threads have this thread ask what they need
// of the run (feed_executor), and what it tells of itself reaches them through streams
// that it never waits for (web_streams). A reader of events keeps a thread, so there are
// more of them than readers are let in.

namespace clade {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t threads = web_streams::most + 32;
constexpr auto patience = 2s; ///< With one who sends nothing more.
constexpr std::size_t most_rows = 10'000;
constexpr std::size_t most_posted_bytes = 1 << 16;
/// After so long without news a reader is sent an empty line, which shows whether it is
/// still there.
constexpr auto quiet = 5s;
/// Feeds may also notice that time has passed; a replay does nothing else.
constexpr int look_ms = 1000, look_at_replay_ms = 50;

constexpr const char* no_page =
    "<!doctype html><meta charset=\"utf-8\"><title>Clade</title><p>This clade was built "
    "without its page: build it with tools/clade where Node can be installed; "
    "<a href=\"/api/picture\">/api/picture</a> works.\n";

void give_asset(const httplib::Request& req, httplib::Response& res) {
  if (web_page().empty() && req.path == "/")
    return give(res, "text/html; charset=utf-8", no_page);
  if (!give_page_file(res, req.path))
    give_error(res, 404, "there is no " + req.path);
}

class web_service {
public:
  web_service(feed& f, const web_hooks& hooks) : feed_(f), hooks_(hooks) {}

  expected<void> listen(const web_params& p);
  expected<void> serve(const web_params& p);

private:
  void route();
  /// Whether it was refused.
  bool refuse(const httplib::Request& req, httplib::Response& res) const;
  void rows(const httplib::Request& req, httplib::Response& res);
  void one(const httplib::Request& req, httplib::Response& res);
  void events(httplib::Response& res);

  expected<void> follow(const std::stop_token& stop);
  expected<bool> tell();

  feed& feed_;
  std::optional<feed_state> shown_; ///< The state of the feed that readers know.
  feed_executor desk_;
  const web_hooks& hooks_;
  std::optional<web_work> work_;
  web_streams streams_;
  web_news news_;
  std::optional<web_access> gate_;
  std::unique_ptr<http_server> server_;
};

expected<void> web_service::listen(const web_params& p) {
  if (!desk_.usable())
    return fail(error_kind::io, "no event descriptor can be had");
  const auto token = random_token();
  if (!token)
    return tl::unexpected<error>(token.error());
  auto listening = http_server::listen({.port = p.port,
                                        .threads = threads,
                                        .patience = patience,
                                        .most_body_bytes = most_posted_bytes});
  if (!listening)
    return fail(error_kind::conflict,
                fmt::format("port {} of 127.0.0.1 cannot be had: it is in use, or needs "
                            "root; take another, or none for any that is free",
                            p.port));
  server_ = std::move(*listening);
  gate_.emplace(server_->port(), *token);
  route();
  return {};
}

bool web_service::refuse(const httplib::Request& req, httplib::Response& res) const {
  const auto token = req.get_param_value("token");
  const auto refusal =
      gate_->refusal({.host = req.get_header_value("Host"),
                      .token = token,
                      .cookies = req.get_header_value("Cookie"),
                      .fetch_site = req.get_header_value("Sec-Fetch-Site")});
  const bool asks = req.method == "GET" || req.method == "HEAD";
  const bool orders = req.method == "POST" && req.path == "/api/control";
  if (!refusal.empty())
    give_error(res, 403, refusal);
  else if (!asks && !orders)
    give_error(res, 405, "only GET is answered here");
  else if (!token.empty())
    res.set_header("Set-Cookie", gate_->cookie());
  return !refusal.empty() || (!asks && !orders);
}

void web_service::route() {
  server_->look_first([this](const auto& req, auto& res) { return refuse(req, res); });
  auto& routes = server_->routes();
  routes.Get("/api/picture", [this](const auto&, auto& res) {
    give_json(res, desk_.ask([](feed& f) -> expected<std::string> {
      return to_json(f.picture(), f.name(), f.showing());
    }));
  });
  routes.Get("/api/candidates", [this](const auto& req, auto& res) { rows(req, res); });
  routes.Get(R"(/api/candidate/(\d{1,19}))",
             [this](const auto& req, auto& res) { one(req, res); });
  routes.Get("/api/events", [this](const auto&, auto& res) { events(res); });
  work_.emplace(desk_, hooks_, gate_->address());
  work_->route(routes);
  routes.Get(".*", give_asset);
}

void web_service::rows(const httplib::Request& req, httplib::Response& res) {
  const auto after = number_of(req, "after", 0),
             count = number_of(req, "count", most_rows);
  if (!after || !count)
    return give_error(res, 400, (!after ? after : count).error().message);
  give_json(res, desk_.ask([=](feed& f) -> expected<std::string> {
    const auto found = f.candidates(*after, std::min<std::size_t>(*count, most_rows));
    if (!found)
      return tl::unexpected<error>(found.error());
    return to_json(*found);
  }));
}

void web_service::one(const httplib::Request& req, httplib::Response& res) {
  const auto id = std::stoull(req.matches[1].str());
  give_json(res, desk_.ask([=](feed& f) -> expected<std::string> {
    const auto found = f.candidate(id);
    if (!found)
      return tl::unexpected<error>(found.error());
    return to_json(*found);
  }));
}

void web_service::events(httplib::Response& res) {
  auto stream = std::make_shared<web_stream>();
  // On the feed's thread, so that nothing comes twice or is left out.
  const auto begun = desk_.ask([&](feed& f) -> expected<std::string> {
    if (!streams_.add(stream))
      return fail(error_kind::refused, "too many pages are open");
    stream->push("retry: 500\n\n" + news_.beginning(f));
    return std::string();
  });
  if (!begun)
    return give_json(res, begun);
  give_stream(
      res, "text/event-stream",
      [stream] {
        auto text = stream->next(quiet);
        return text && text->empty() ? std::optional<std::string>(":\n\n")
                                     : std::move(text);
      },
      [this, stream] { streams_.remove(stream); });
}

/// All that is new, to all readers; false: there was nothing.
expected<bool> web_service::tell() {
  const auto came = feed_.wait(0ms);
  if (!came)
    return tl::unexpected<error>(came.error());
  std::string text;
  for (const auto& n : *came)
    text += news_.next(n, feed_);
  if (const auto now = feed_.showing(); shown_ != now) {
    shown_ = now;
    text += news_.beginning(feed_);
  }
  if (!text.empty())
    streams_.push(text);
  return !came->empty();
}

expected<void> web_service::follow(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    desk_.answer(feed_);
    const auto more = tell();
    if (!more)
      return tl::unexpected<error>(more.error());
    if (*more) // The event that wakes may have told of several at once.
      continue;
    std::array<pollfd, 2> wakes{
        {{.fd = desk_.descriptor(), .events = POLLIN, .revents = 0},
         {.fd = feed_.descriptor(), .events = POLLIN, .revents = 0}}};
    if (::poll(wakes.data(), wakes.size(),
               shown_ == feed_state::replay ? look_at_replay_ms : look_ms)
            < 0
        && errno != EINTR)
      return fail(error_kind::io, "poll failed");
  }
  return {};
}

expected<void> web_service::serve(const web_params& p) {
  const std::stop_callback wake(p.stop, [this] { desk_.wake(); });
  server_->start();
  if (p.ready)
    p.ready(gate_->address());
  auto followed = follow(p.stop);
  desk_.close();
  streams_.close();
  if (!server_->stop() && followed)
    return fail(error_kind::io, "the page's server stopped listening");
  return followed;
}

} // namespace

expected<void> serve_web(feed& f, const web_params& p) {
  web_service service(f, p.hooks);
  if (const auto listening = service.listen(p); !listening)
    return listening;
  return service.serve(p);
}

} // namespace clade
