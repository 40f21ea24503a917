#pragma once

#include "tools/views/web/feed_executor.hpp"
#include "tools/views/web/web_hooks.hpp"

#include <httplib.h>

#include <string>

namespace clade {

/// Answers what a page asks for beside the run's own course: curves of many candidates,
/// costs of networks, models, other runs, and orders to the run. Handlers run on the
/// server's threads; only what needs the feed goes through the desk.
///
/// POST /api/control takes {"order": NAME, "number": N, "text": TEXT} of
/// tools/views/web/orders.hpp and {"order": "add", "run": RUN, "id": N}, as
/// application/json, which another origin's page cannot send unasked. It answers
/// {"recorded": SENTENCE}, or an error with the run's reason to refuse.
class web_work {
public:
  /// `desk` and `hooks` outlive it. `address`: what a person opens, token included.
  web_work(feed_executor& desk, const web_hooks& hooks, std::string address)
      : desk_(desk),
        hooks_(hooks),
        address_(std::move(address)) {}

  void route(httplib::Server& server);

private:
  void curves(const httplib::Request& req, httplib::Response& res);
  void costs(candidate_id id, httplib::Response& res);
  void model(const httplib::Request& req, candidate_id id, httplib::Response& res);
  void session(httplib::Response& res);
  void control(const httplib::Request& req, httplib::Response& res);
  [[nodiscard]] expected<instruction> order_of(const std::string& body) const;

  feed_executor& desk_;
  const web_hooks& hooks_;
  std::string address_;
};

} // namespace clade
