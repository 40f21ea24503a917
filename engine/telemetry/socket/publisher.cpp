// One thread has the sockets. Others leave what is to be published in a list and write to
// an event descriptor, which that thread polls together with its sockets.
//
// XPUB tells of subscriptions: without any, nothing is encoded. Messages for a viewer
// that does not read are dropped once `queued_messages` wait for it, which it sees by
// their numbers.
#include "engine/telemetry/socket/publisher.hpp"

#include "engine/telemetry/picture/stored_picture.hpp"
#include "engine/telemetry/picture/wire.hpp"
#include "engine/telemetry/socket/gate.hpp"
#include "engine/telemetry/socket/socket_folder.hpp"
#include "engine/telemetry/socket/viewer_keys.hpp"
#include "genome/base/wakeable_queue.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <zmq.hpp>

#include <atomic>
#include <thread>

namespace clade {

namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

constexpr int queued_answers = 64;
// One who asks all the time must not keep the others from hearing anything.
constexpr int answers_at_once = 16;
// The time in which a viewer still gets the last records when a head ends.
constexpr std::chrono::milliseconds farewell = 200ms;
// A viewer of another machine that answers nothing for so long is gone, or its link is.
constexpr std::chrono::milliseconds handshake_time = 5s;
constexpr std::chrono::milliseconds heartbeat = 5s, heartbeat_timeout = 30s;
constexpr std::chrono::milliseconds alive_interval = 1000ms;
// A large picture is kept less often, so that it adds at most so many bytes to a record.
constexpr std::uint64_t kept_bytes_per_record = 8;
constexpr std::size_t most_kept_bytes = 256 << 20;

using event = std::variant<recorded, epoch_event, slots_view>;

/// This thread's calls of ZeroMQ are not to be interrupted.
void leave_signals_to_others() {
  sigset_t those{};
  sigemptyset(&those);
  for (const int s : {SIGINT, SIGTERM, SIGHUP})
    sigaddset(&those, s);
  pthread_sigmask(SIG_BLOCK, &those, nullptr);
}

class socket_publisher final : public publisher {
public:
  socket_publisher(const publisher_params& params, socket_folder folder,
                   run_picture picture)
      : params_(params),
        folder_(std::move(folder)),
        picture_(std::move(picture)),
        kept_(picture_.sequence),
        events_(context_, zmq::socket_type::xpub),
        requests_(context_, zmq::socket_type::router),
        control_(context_, zmq::socket_type::router) {}

  ~socket_publisher() override {
    std::error_code gone;
    if (thread_.joinable()) {
      ending_ = true;
      waiting_.wake();
      thread_.join();
    }
    // A head that is killed leaves them; the next one binds them anew.
    for (const char* socket : {"events", "requests", "control"})
      std::filesystem::remove(params_.folder / socket, gone);
    std::filesystem::remove(params_.folder, gone);
  }

  expected<void> begin() {
    if (!waiting_.usable())
      return fail(error_kind::io, "no event descriptor can be had");
    try {
      events_.set(zmq::sockopt::sndhwm, params_.queued_messages);
      events_.set(zmq::sockopt::xpub_verboser, 1);
      for (auto* socket : {&requests_, &control_}) {
        socket->set(zmq::sockopt::sndhwm, queued_answers);
        socket->set(zmq::sockopt::rcvhwm, queued_answers);
      }
      for (auto* socket : {&events_, &requests_, &control_}) {
        socket->set(zmq::sockopt::linger, 0);
        socket->set(zmq::sockopt::maxmsgsize, std::int64_t{max_request_bytes});
      }
      events_.bind(folder_.address("events"));
      requests_.bind(folder_.address("requests"));
      control_.bind(folder_.address("control"));
    } catch (const zmq::error_t& e) {
      return fail(error_kind::io, fmt::format("{}: nobody can watch this run: {}",
                                              params_.folder.string(), e.what()));
    }
    if (params_.remote)
      if (auto opened = open_to(*params_.remote); !opened)
        return opened;
    thread_ = std::thread([this] { serve(); });
    return {};
  }

  void publish(recorded r) override { waiting_.put(std::move(r)); }
  void publish(epoch_event e) override { waiting_.put(std::move(e)); }
  void publish(slots_view v) override { waiting_.put(std::move(v)); }
  bool watched() const override { return subscriptions_ > 0; }

private:
  expected<void> open_to(const remote_place& place) {
    const auto keys = publisher_keys(place.authority);
    if (!keys)
      return tl::unexpected(keys.error());
    try {
      gate_.emplace(context_,
                    gate_params{.authority = place.authority, .say = params_.say});
      int port = place.port;
      for (auto* socket : {&events_, &requests_, &control_}) {
        socket->set(zmq::sockopt::curve_server, true);
        socket->set(zmq::sockopt::curve_secretkey, keys->secret_key);
        socket->set(zmq::sockopt::zap_domain, socket == &control_ ? "control" : "watch");
        socket->set(zmq::sockopt::handshake_ivl,
                    static_cast<int>(handshake_time.count()));
        socket->set(zmq::sockopt::heartbeat_ivl, static_cast<int>(heartbeat.count()));
        socket->set(zmq::sockopt::heartbeat_timeout,
                    static_cast<int>(heartbeat_timeout.count()));
        socket->bind(fmt::format("tcp://{}:{}", place.host, port++));
      }
    } catch (const zmq::error_t& e) {
      return fail(error_kind::conflict,
                  fmt::format("cannot publish on {}:{} and the two ports after it: {}",
                              place.host, place.port, e.what()));
    }
    return {};
  }

  void serve() {
    leave_signals_to_others();
    std::vector<zmq::pollitem_t> items{{events_.handle(), 0, ZMQ_POLLIN, 0},
                                       {requests_.handle(), 0, ZMQ_POLLIN, 0},
                                       {control_.handle(), 0, ZMQ_POLLIN, 0},
                                       {nullptr, waiting_.descriptor(), ZMQ_POLLIN, 0}};
    if (gate_)
      items.push_back({gate_->handle(), 0, ZMQ_POLLIN, 0});
    auto next_alive = clock::now();
    while (!ending_) {
      zmq::poll(items, alive_interval);
      if (gate_)
        gate_->answer_waiting();
      count_subscriptions();
      publish_waiting();
      answer(requests_,
             [this](const bytes& asked, const char*) { return answer_to(asked); });
      answer(control_, [this](const bytes& asked, const char* viewer) {
        return obey(asked, viewer);
      });
      const auto now = clock::now();
      if (now >= next_alive) {
        send(alive{picture_.sequence});
        next_alive = now + alive_interval;
      }
      if (picture_.sequence
          >= kept_ + std::max(params_.keep_records, kept_size_ / kept_bytes_per_record))
        keep();
    }
    publish_waiting();
    events_.set(zmq::sockopt::linger, static_cast<int>(farewell.count()));
    if (picture_.sequence != kept_)
      keep();
  }

  void keep() {
    kept_ = picture_.sequence;
    if (!params_.keep)
      return;
    auto kept = to_keep(picture_);
    kept_size_ = kept.data.size();
    if (kept_size_ <= most_kept_bytes)
      params_.keep(std::move(kept));
  }

  void count_subscriptions() {
    zmq::message_t message;
    while (events_.recv(message, zmq::recv_flags::dontwait)) {
      if (message.size() == 0)
        continue;
      const char first = *message.data<char>();
      if (first == 1)
        ++subscriptions_;
      else if (first == 0 && subscriptions_ > 0)
        --subscriptions_;
    }
  }

  void publish_waiting() {
    for (const auto& e : waiting_.take())
      std::visit([this](const auto& one) { show(one); }, e);
  }

  void show(const recorded& r) {
    if (r.first + r.entries->size() <= picture_.sequence + 1)
      return; // Read from the store already.
    for (const auto& e : *r.entries) {
      if (auto folded = apply(picture_, r.unix_ms, e.record); !folded)
        return read_anew(folded.error());
      if (watched())
        send(record_event{picture_.sequence, r.unix_ms, e.record});
    }
  }

  /// The selector has folded the record, so it was the picture that was wrong. Viewers
  /// see a gap in the numbers and ask for the new one.
  void read_anew(const error& why) {
    if (params_.say)
      params_.say("the picture of the run was read anew: " + why.message);
    auto opened = store::open_to_read(params_.store_file);
    auto read = opened ? fold_records(*opened) : tl::unexpected(opened.error());
    if (read)
      picture_ = std::move(*read);
    else if (params_.say)
      params_.say(read.error().message);
  }

  template<class Passing>
  void show(const Passing& p) {
    send(p);
  }

  void send(const published& p) {
    if (!watched())
      return;
    const auto parts = encode(p);
    for (std::size_t i = 0; i < parts.size(); ++i)
      events_.send(zmq::buffer(parts[i]), i + 1 < parts.size() ? zmq::send_flags::sndmore
                                                               : zmq::send_flags::none);
  }

  template<class Answer>
  static void answer(zmq::socket_t& socket, Answer answer_to) {
    zmq::message_t part;
    for (int i = 0; i < answers_at_once && socket.recv(part, zmq::recv_flags::dontwait);
         ++i) {
      std::vector<bytes> envelope{part.to_string()};
      while (part.more() && socket.recv(part))
        envelope.push_back(part.to_string());
      // Only viewers whom the gate let in have a name that is theirs.
      const auto answer =
          answer_to(envelope.back(), zmq_msg_gets(part.handle(), "User-Id"));
      envelope.pop_back();
      for (const auto& address : envelope)
        socket.send(zmq::buffer(address), zmq::send_flags::sndmore);
      socket.send(zmq::buffer(answer), zmq::send_flags::none);
    }
  }

  bytes obey(const bytes& asked, const char* viewer) {
    auto told = decode_told(asked);
    if (!told)
      return encode_failure(told.error().message);
    if (viewer != nullptr)
      told->who = viewer;
    const auto refusal =
        params_.obey ? params_.obey(*told) : std::string("this run takes no orders");
    return refusal.empty() ? encode_done() : encode_failure(refusal);
  }

  bytes answer_to(const bytes& asked) {
    const auto r = decode_request(asked);
    if (!r)
      return encode_failure(r.error().message);
    if (std::holds_alternative<snapshot_request>(*r))
      return encode_snapshot(params_.name, picture_);
    if (!reader_) {
      auto opened = store::open_to_read(params_.store_file);
      if (!opened)
        return encode_failure(opened.error().message);
      reader_ = std::make_unique<store>(std::move(*opened));
    }
    const auto text = [](const auto& answer) {
      return answer ? encode_answer(*answer) : encode_failure(answer.error().message);
    };
    if (const auto* c = std::get_if<candidate_request>(&*r))
      return text(view_genome(*reader_, c->id));
    const auto& rows = std::get<rows_request>(*r);
    return text(reader_->rows(rows.after, std::min(rows.count, max_rows)));
  }

  publisher_params params_;
  socket_folder folder_;
  run_picture picture_;
  std::uint64_t kept_; ///< Up to that record it is kept.
  std::uint64_t kept_size_ = 0;
  zmq::context_t context_;
  zmq::socket_t events_, requests_, control_;
  std::optional<gate> gate_;
  std::unique_ptr<store> reader_;
  std::atomic<std::size_t> subscriptions_ = 0;
  wakeable_queue<event> waiting_;
  std::atomic<bool> ending_ = false;
  std::thread thread_;
};

} // namespace

expected<std::unique_ptr<publisher>> publisher::start(const publisher_params& params,
                                                      const store& s) {
  auto picture = read_picture(s);
  if (!picture)
    return tl::unexpected(picture.error());
  auto folder = socket_folder::open(params.folder, true);
  if (!folder)
    return tl::unexpected(folder.error());
  auto made =
      std::make_unique<socket_publisher>(params, std::move(*folder), std::move(*picture));
  return made->begin().map(
      [&]() -> std::unique_ptr<publisher> { return std::move(made); });
}

} // namespace clade
