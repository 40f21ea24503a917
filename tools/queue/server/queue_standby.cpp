#include "tools/queue/server/queue_standby.hpp"

#include "tools/queue/server/queue_listener.hpp"
#include "tools/queue/server/replica_routes.hpp"
#include "tools/views/web/web_answers.hpp"

#include <mutex>
#include <optional>

namespace clade {

namespace {

class http_standby final : public standby_server {
public:
  http_standby(queue_listener listener, queue_tokens& tokens)
      : listener_(std::move(listener)) {
    say({{"error", "this server waits"}, {"role", "waits"}});
    auto& server = *listener_.server;
    server.set_keep_alive_timeout(1);
    server.set_default_headers(headers_of_all());
    server.set_pre_routing_handler(
        [this, &tokens](const httplib::Request& req, httplib::Response& res) {
          ignore_ranges(req);
          // The library leaves a body where it is, and would read it as the next request.
          res.set_header("Connection", "close");
          if (let_in(tokens, req, res)) {
            const std::lock_guard lock(mutex_);
            res.status = 503;
            res.set_header("Retry-After", "1");
            give(res, "application/json", answer_);
          }
          return httplib::Server::HandlerResponse::Handled;
        });
    answers_.emplace(server);
  }

  [[nodiscard]] const queue_server_params& params() const override {
    return listener_.params;
  }

  void say(const ordered_json& answer) override {
    const std::lock_guard lock(mutex_);
    answer_ = text_of(answer);
  }

private:
  queue_listener listener_;
  std::mutex mutex_;
  std::string answer_;
  std::optional<answering> answers_;
};

} // namespace

expected<std::unique_ptr<standby_server>>
standby_server::listen(const queue_server_params& params, queue_tokens& tokens) {
  return listen_for(params).map([&](queue_listener l) -> std::unique_ptr<standby_server> {
    return std::make_unique<http_standby>(std::move(l), tokens);
  });
}

} // namespace clade
