#include "engine/telemetry/subscription.hpp"

#include "engine/telemetry/socket_folder.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <zmq.hpp>

#include <atomic>
#include <mutex>
#include <thread>

namespace clade {

namespace {

using namespace std::chrono_literals;

// More than the publisher keeps for a viewer: what is lost is lost there.
constexpr int queued_messages = 100'000;
constexpr std::chrono::milliseconds look_for_end = 100ms;

class socket_subscription final : public subscription {
public:
  explicit socket_subscription(socket_folder folder)
      : folder_(std::move(folder)),
        wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
        events_(context_, zmq::socket_type::sub) {}

  ~socket_subscription() override {
    ending_ = true;
    if (thread_.joinable())
      thread_.join();
    ::close(wake_);
  }

  expected<void> begin() {
    if (wake_ < 0)
      return fail(error_kind::io, "no event descriptor can be had");
    try {
      events_.set(zmq::sockopt::rcvhwm, queued_messages);
      events_.set(zmq::sockopt::linger, 0);
      events_.set(zmq::sockopt::subscribe, "");
      events_.set(zmq::sockopt::rcvtimeo, static_cast<int>(look_for_end.count()));
      events_.connect(folder_.address("events"));
      connect_requests();
    } catch (const zmq::error_t& e) {
      return fail(error_kind::io, std::string("the run cannot be watched: ") + e.what());
    }
    thread_ = std::thread([this] { read(); });
    return {};
  }

  expected<bytes> ask(const request& r, std::chrono::milliseconds most) override {
    requests_.set(zmq::sockopt::rcvtimeo, static_cast<int>(most.count()));
    zmq::message_t answer;
    const auto asked = encode(r);
    if (requests_.send(zmq::buffer(asked), zmq::send_flags::dontwait)
        && requests_.recv(answer) && !answer.more())
      return answer.to_string();
    // Its answer, should it come, must not be taken for the next one's.
    connect_requests();
    return fail(error_kind::io, "the head does not answer");
  }

  expected<void> tell(const person_ordered& order,
                      std::chrono::milliseconds most) override {
    zmq::socket_t control(context_, zmq::socket_type::dealer);
    control.set(zmq::sockopt::linger, 0);
    control.set(zmq::sockopt::rcvtimeo, static_cast<int>(most.count()));
    control.connect(folder_.address("control"));
    zmq::message_t answer;
    const auto told = encode_told(order.order, order.who);
    if (control.send(zmq::buffer(told), zmq::send_flags::dontwait) && control.recv(answer)
        && !answer.more())
      return decode_done(std::span(answer.data<char>(), answer.size()));
    return fail(error_kind::io, "the head does not answer");
  }

  std::vector<published> take(std::chrono::milliseconds most) override {
    pollfd item{.fd = wake_, .events = POLLIN, .revents = 0};
    if (::poll(&item, 1, static_cast<int>(most.count())) > 0) {
      std::uint64_t count = 0;
      [[maybe_unused]] const auto cleared = ::read(wake_, &count, sizeof count);
    }
    std::lock_guard lock(mutex_);
    return std::exchange(arrived_, {});
  }

  int descriptor() const override { return wake_; }

private:
  void connect_requests() {
    requests_ = zmq::socket_t(context_, zmq::socket_type::dealer);
    requests_.set(zmq::sockopt::linger, 0);
    requests_.connect(folder_.address("requests"));
  }

  void read() {
    while (!ending_) {
      zmq::message_t part;
      if (!events_.recv(part))
        continue;
      std::vector<bytes> parts{part.to_string()};
      while (part.more() && events_.recv(part))
        parts.push_back(part.to_string());
      // What is not understood is a gap, if it was a record.
      auto decoded = decode_published(parts);
      if (!decoded)
        continue;
      {
        std::lock_guard lock(mutex_);
        arrived_.push_back(std::move(*decoded));
      }
      const std::uint64_t one = 1;
      [[maybe_unused]] const auto written = ::write(wake_, &one, sizeof one);
    }
  }

  socket_folder folder_;
  int wake_;
  zmq::context_t context_;
  zmq::socket_t events_, requests_;
  std::mutex mutex_;
  std::vector<published> arrived_;
  std::atomic<bool> ending_ = false;
  std::thread thread_;
};

} // namespace

expected<std::unique_ptr<subscription>>
subscription::open(const std::filesystem::path& folder) {
  auto opened = socket_folder::open(folder, false);
  if (!opened)
    return tl::unexpected(opened.error());
  auto made = std::make_unique<socket_subscription>(std::move(*opened));
  return made->begin().map(
      [&]() -> std::unique_ptr<subscription> { return std::move(made); });
}

} // namespace clade
