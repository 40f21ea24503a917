#include "tools/queue/server/queue_standby.hpp"

#include "tools/http/answers.hpp"
#include "tools/queue/server/queue_listener.hpp"
#include "tools/queue/server/replica_routes.hpp"

#include <mutex>

namespace clade {

namespace {

void wait_for_turn(httplib::Response& res, const std::string& answer) {
  res.status = 503;
  res.set_header("Retry-After", "1");
  give(res, "application/json", answer);
}

class http_standby final : public standby_server {
public:
  http_standby(queue_listener listener, queue_tokens& tokens)
      : listener_(std::move(listener)) {
    say({{"error", "this server waits"}, {"role", "waits"}});
    listener_.server->look_first([this, &tokens](const auto& req, auto& res) {
      // It cannot know whose the token of an entry is: who has one asks the next server.
      if (is_token_of_entry(req)) {
        wait_for_turn(res, text_of({{"error", "this server waits"}, {"role", "waits"}}));
      } else if (let_in(tokens, req, res)) {
        const std::lock_guard lock(mutex_);
        wait_for_turn(res, answer_);
      }
      return true;
    });
    listener_.server->start();
  }
  ~http_standby() override { listener_.server->stop(); }

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
};

} // namespace

expected<std::unique_ptr<standby_server>>
standby_server::listen(const queue_server_params& params, queue_tokens& tokens) {
  return listen_for(params).map([&](queue_listener l) -> std::unique_ptr<standby_server> {
    return std::make_unique<http_standby>(std::move(l), tokens);
  });
}

} // namespace clade
