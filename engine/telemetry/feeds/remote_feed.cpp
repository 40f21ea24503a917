#include "engine/telemetry/feeds/remote_feed.hpp"

#include "engine/telemetry/feeds/followed_head.hpp"

#include <fmt/format.h>

namespace clade {

namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

// A head says each second that it lives.
constexpr auto silence = 3s;

class remote_feed final : public feed {
public:
  explicit remote_feed(followed_head head) : head_(std::move(head)) {}

  feed_state showing() const override {
    if (picture().finished)
      return feed_state::finished;
    if (clock::now() - heard_ < silence)
      return feed_state::live;
    return picture().state == picture_state::paused ? feed_state::stopped
                                                    : feed_state::not_connected;
  }
  std::string name() const override { return head_.name(); }
  const run_picture& picture() const override { return head_.picture(); }
  const slots_view& slots() const override { return head_.slots(); }
  int descriptor() const override { return head_.descriptor(); }

  expected<std::vector<news>> wait(std::chrono::milliseconds most) override {
    std::vector<news> came;
    const auto until = clock::now() + most;
    do {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(
          std::min(until, std::max(heard_, tried_) + silence) - clock::now());
      if (head_.take(std::max(left, 0ms), came))
        heard_ = clock::now();
      if (auto tried = connect_again(); !tried)
        return tl::unexpected(tried.error());
    } while (came.empty() && clock::now() < until);
    return came;
  }

  expected<genome_view> candidate(candidate_id id) override {
    return head_.candidate(id);
  }
  expected<std::vector<candidate_row>> candidates(candidate_id after,
                                                  std::size_t count) override {
    return head_.candidates(after, count);
  }
  bool takes_orders() const override { return !picture().finished; }
  expected<void> tell(const operator_command& order) override {
    return head_.tell(order);
  }

private:
  // libzmq does so itself after a connection that ended, but not after one that was
  // refused, nor before the system gives up one whose link was cut.
  expected<void> connect_again() {
    const auto now = clock::now();
    if (now - std::max(heard_, tried_) < silence)
      return {};
    tried_ = now;
    return head_.connect_again();
  }

  followed_head head_;
  clock::time_point heard_ = clock::now(), tried_ = heard_;
};

} // namespace

expected<std::unique_ptr<feed>> open_remote_feed(const remote_head& head) {
  return subscription::connect(head)
      .and_then([](std::unique_ptr<subscription> s) {
        return followed_head::follow(std::move(s));
      })
      .map([](followed_head f) -> std::unique_ptr<feed> {
        return std::make_unique<remote_feed>(std::move(f));
      })
      .map_error([&](const error& e) {
        return error{e.kind == error_kind::io ? error_kind::not_found : e.kind,
                     fmt::format("tcp://{}:{}: {}", head.host, head.port, e.message)};
      });
}

} // namespace clade
