#include "engine/telemetry/socket/subscription.hpp"

#include "engine/telemetry/socket/socket_folder.hpp"
#include "genome/base/wakeable_queue.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <zmq.hpp>

#include <atomic>
#include <cstring>
#include <optional>
#include <thread>

namespace clade {

namespace {

using namespace std::chrono_literals;

// More than the publisher keeps for a viewer: what is lost is lost there.
constexpr int queued_messages = 100'000;
constexpr std::chrono::milliseconds look_for_end = 100ms;

/// The three sockets' addresses, and with what they are opened.
struct addresses {
  std::string events, requests, control;
  std::optional<viewer_bundle> keys; ///< None: they are files of this machine.
};

void use_keys(zmq::socket_t& socket, const std::optional<viewer_bundle>& keys) {
  if (!keys)
    return;
  socket.set(zmq::sockopt::curve_serverkey, keys->publisher);
  socket.set(zmq::sockopt::curve_publickey, keys->own.public_key);
  socket.set(zmq::sockopt::curve_secretkey, keys->own.secret_key);
}

/// A socket on which one question after another is asked. libzmq tells by a second one
/// how its connection fares.
class asker {
public:
  asker(zmq::context_t& context, const addresses& to, const std::string& address,
        const std::string& monitor)
      : keys_(to.keys.has_value()),
        socket_(context, zmq::socket_type::dealer) {
    socket_.set(zmq::sockopt::linger, 0);
    use_keys(socket_, to.keys);
    if (keys_) {
      zmq_socket_monitor(socket_.handle(), monitor.c_str(),
                         ZMQ_EVENT_CONNECTED | ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL
                             | ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL
                             | ZMQ_EVENT_HANDSHAKE_FAILED_AUTH);
      news_ = zmq::socket_t(context, zmq::socket_type::pair);
      news_.set(zmq::sockopt::linger, 0);
      news_.connect(monitor);
    }
    socket_.connect(address);
  }

  expected<bytes> ask(const bytes& asked, std::chrono::milliseconds most) {
    const auto until = std::chrono::steady_clock::now() + most;
    // Dealers send only once they are connected.
    bool sent = false;
    while (!keys_ || seen_ != ZMQ_EVENT_HANDSHAKE_FAILED_AUTH) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(
          until - std::chrono::steady_clock::now());
      sent = sent || socket_.send(zmq::buffer(asked), zmq::send_flags::dontwait);
      zmq::message_t answer;
      if (sent && socket_.recv(answer, zmq::recv_flags::dontwait) && !answer.more())
        return answer.to_string();
      if (left.count() <= 0)
        break;
      std::vector<zmq::pollitem_t> items{{socket_.handle(), 0, ZMQ_POLLIN, 0}};
      if (keys_)
        items.push_back({news_.handle(), 0, ZMQ_POLLIN, 0});
      zmq::poll(items, left);
      note_news();
    }
    return why_not();
  }

private:
  void note_news() {
    zmq::message_t part;
    while (keys_ && news_.recv(part, zmq::recv_flags::dontwait)) {
      std::uint16_t event = 0;
      std::memcpy(&event, part.data(), std::min(sizeof event, part.size()));
      // A connection that is made and fails again and again is one that fails.
      if (event != ZMQ_EVENT_CONNECTED || seen_ == 0)
        seen_ = event;
      while (part.more() && news_.recv(part)) {
      }
    }
  }

  [[nodiscard]] tl::unexpected<error> why_not() const {
    if (!keys_ || seen_ == ZMQ_EVENT_CONNECTED)
      return fail(error_kind::io, "the head does not answer");
    if (seen_ == 0)
      return fail(error_kind::not_found,
                  "nobody answers there: does the run publish on this address?");
    if (seen_ == ZMQ_EVENT_HANDSHAKE_FAILED_AUTH)
      return fail(error_kind::refused,
                  "the run refuses this key: its authority made none with this right");
    return fail(error_kind::refused, "no handshake: these are not keys of that run's "
                                     "authority, or no run publishes there");
  }

  bool keys_;
  zmq::socket_t socket_, news_;
  int seen_ = 0; ///< The last event that says something; 0: not even a connection.
};

class socket_subscription final : public subscription {
public:
  socket_subscription(addresses to, std::optional<socket_folder> folder)
      : to_(std::move(to)),
        folder_(std::move(folder)) {}

  ~socket_subscription() override { end_thread(); }

  expected<void> begin() {
    if (!arrived_.usable())
      return fail(error_kind::io, "no event descriptor can be had");
    try {
      events_ = zmq::socket_t(context_, zmq::socket_type::sub);
      events_.set(zmq::sockopt::rcvhwm, queued_messages);
      events_.set(zmq::sockopt::linger, 0);
      events_.set(zmq::sockopt::subscribe, "");
      events_.set(zmq::sockopt::rcvtimeo, static_cast<int>(look_for_end.count()));
      use_keys(events_, to_.keys);
      events_.connect(to_.events);
    } catch (const zmq::error_t& e) {
      return fail(error_kind::invalid_input,
                  std::string("the run cannot be watched: ") + e.what());
    }
    thread_ = std::thread([this] { read(); });
    return {};
  }

  expected<void> connect_again() override {
    end_thread();
    ending_ = false;
    requests_.reset();
    return begin();
  }

  expected<bytes> ask(const request& r, std::chrono::milliseconds most) override {
    if (!requests_)
      requests_.emplace(context_, to_, to_.requests, next_monitor());
    auto answer = requests_->ask(encode(r), most);
    // Its answer, should it come, must not be taken for the next one's.
    if (!answer)
      requests_.reset();
    return answer;
  }

  expected<void> tell(const operator_command& order,
                      std::chrono::milliseconds most) override {
    asker control(context_, to_, to_.control, next_monitor());
    return control.ask(encode_told(order.order, order.who), most)
        .and_then([](const bytes& answer) { return decode_done(answer); });
  }

  std::vector<published> take(std::chrono::milliseconds most) override {
    pollfd item{.fd = arrived_.descriptor(), .events = POLLIN, .revents = 0};
    ::poll(&item, 1, static_cast<int>(most.count()));
    return arrived_.take();
  }

  int descriptor() const override { return arrived_.descriptor(); }

private:
  void end_thread() {
    ending_ = true;
    if (thread_.joinable())
      thread_.join();
  }

  std::string next_monitor() { return fmt::format("inproc://monitor-{}", ++monitors_); }

  void read() {
    while (!ending_) {
      zmq::message_t part;
      if (!events_.recv(part))
        continue;
      std::vector<bytes> parts{part.to_string()};
      while (part.more() && events_.recv(part))
        parts.push_back(part.to_string());
      // A message that is not understood is a gap, if it was a record.
      auto decoded = decode_published(parts);
      if (decoded)
        arrived_.put(std::move(*decoded));
    }
  }

  addresses to_;
  std::optional<socket_folder> folder_; ///< Through which the files are reached.
  zmq::context_t context_;
  zmq::socket_t events_;
  std::optional<asker> requests_;
  std::uint64_t monitors_ = 0;
  wakeable_queue<published> arrived_;
  std::atomic<bool> ending_ = false;
  std::thread thread_;
};

expected<std::unique_ptr<subscription>> begun(addresses to,
                                              std::optional<socket_folder> folder) {
  auto made = std::make_unique<socket_subscription>(std::move(to), std::move(folder));
  return made->begin().map(
      [&]() -> std::unique_ptr<subscription> { return std::move(made); });
}

} // namespace

expected<std::unique_ptr<subscription>>
subscription::open(const std::filesystem::path& folder) {
  auto opened = socket_folder::open(folder, false);
  if (!opened)
    return tl::unexpected(opened.error());
  addresses to{.events = opened->address("events"),
               .requests = opened->address("requests"),
               .control = opened->address("control"),
               .keys = std::nullopt};
  return begun(std::move(to), std::move(*opened));
}

expected<std::unique_ptr<subscription>> subscription::connect(const remote_head& head) {
  const auto at = [&](int port) {
    return fmt::format("tcp://{}:{}", head.host, head.port + port);
  };
  return begun({.events = at(0), .requests = at(1), .control = at(2), .keys = head.keys},
               std::nullopt);
}

} // namespace clade
