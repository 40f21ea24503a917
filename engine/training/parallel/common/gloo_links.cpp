// Gloo carries messages, each of which waits at its sender until it is asked for; links
// carry streams, which come whether they are asked for or not. So a thread for each other
// member asks it for its next message as long as the links live, and keeps what comes
// until it is wanted. A stream is cut into messages as it is sent; who receives asks for
// the largest that there can be, and the message says how long it is:
//
//   message = length of the piece, 8 bytes; the piece
//
// Gloo writes with a plain writev, so that a member that has gone would end this process
// by SIGPIPE; the signal is ignored from the first links on.
//
// One more thread looks whether the links by which the members met have broken, and then
// calls all waiting off. Gloo itself comes with LibTorch, which passes on its errors and
// is asked by c10d's classes alone: the headers of Gloo that a system has are of another
// version than what is inside LibTorch.
#include "engine/training/parallel/common/gloo_links.hpp"

#include "engine/collectives/collectives.hpp"
#include "engine/collectives/inbound_bytes.hpp"
#include "genome/base/text.hpp"
#include "genome/codec/codec.hpp"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstring>
#include <list>
#include <map>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace clade {
namespace {

using namespace std::chrono_literals;
using std::size_t;

constexpr size_t piece_bytes = 1 << 20;
constexpr size_t head_bytes = sizeof(std::uint64_t);
// The bytes that are kept of one member while no call waits; then it waits in turn.
constexpr size_t most_kept = 16 << 20;
constexpr auto look_every = 20ms;
constexpr int tag = 0;
// Members connect at once, since all have met.
constexpr std::chrono::milliseconds connecting_time = 2s;
// How long a member takes is for the head to judge.
constexpr std::chrono::milliseconds forever = 24h * 365;

/// The store in which Gloo leaves the address at which each member listens: a member sets
/// its own, and when it first asks for one, all tell each other theirs.
class meeting_store final : public c10d::Store {
public:
  explicit meeting_store(links& met) : met_(met) {}

  using c10d::Store::set;
  void set(const std::string& key, const std::vector<std::uint8_t>& value) override {
    TORCH_CHECK(own_.empty(), "a member has two addresses");
    own_ = encoder()
               .text(key)
               .binary({reinterpret_cast<const char*>(value.data()), value.size()})
               .take();
  }

  std::vector<std::uint8_t> get(const std::string& key) override {
    if (all_.empty())
      gather();
    return all_.at(key);
  }

  // `get` waits.
  void wait(const std::vector<std::string>&) override {}
  void wait(const std::vector<std::string>&, const std::chrono::milliseconds&) override {}

  // To connect, Gloo needs nothing else.
  c10::intrusive_ptr<c10d::Store> clone() override { refuse(); }
  std::int64_t add(const std::string&, std::int64_t) override { refuse(); }
  bool deleteKey(const std::string&) override { refuse(); }
  bool check(const std::vector<std::string>&) override { refuse(); }
  std::int64_t getNumKeys() override { refuse(); }

private:
  [[noreturn]] static void refuse() {
    C10_THROW_ERROR(NotImplementedError, "members tell each other addresses alone");
  }

  void gather() {
    for (size_t m = 0; m < met_.members(); ++m) {
      auto said = m == met_.own() ? own_ : bytes();
      std::uint64_t size = said.size();
      broadcast(met_, m, std::as_writable_bytes(std::span(&size, 1)));
      said.resize(size);
      broadcast(met_, m, std::as_writable_bytes(std::span(said)));
      decoder d(said);
      const auto key = d.text();
      const auto value = d.binary();
      TORCH_CHECK(d.finish().has_value(), "member ", m, " says no address");
      all_[key].assign(value.begin(), value.end());
    }
  }

  links& met_;
  bytes own_;
  std::map<std::string, std::vector<std::uint8_t>> all_;
};

using group = c10::intrusive_ptr<c10d::ProcessGroupGloo>;

group connect(links& met, const std::string& address) {
  if (const auto before = std::signal(SIGPIPE, SIG_IGN); before != SIG_DFL)
    std::signal(SIGPIPE, before); // Somebody handles it, or it is ignored.
  const auto options = c10d::ProcessGroupGloo::Options::create(connecting_time);
  options->threads = 1; // It is for collectives, which are ours.
  options->devices.push_back(c10d::ProcessGroupGloo::createDeviceForHostname(address));
  return c10::make_intrusive<c10d::ProcessGroupGloo>(
      c10::make_intrusive<meeting_store>(met), static_cast<int>(met.own()),
      static_cast<int>(met.members()), options);
}

class gloo_links final : public links {
public:
  gloo_links(std::unique_ptr<links> met, const std::string& address)
      : met_(std::move(met)),
        own_(met_->own()),
        peers_(met_->members()),
        group_(connect(*met_, address)) {
    for (size_t m = 0; m < members(); ++m)
      if (m != own_)
        threads_.emplace_back([this, m] { receive_all(m); });
    threads_.emplace_back([this] { watch(); });
  }

  ~gloo_links() override {
    break_up("they are no longer used");
    for (auto& t : threads_)
      t.join();
  }

  [[nodiscard]] size_t own() const override { return own_; }
  [[nodiscard]] size_t members() const override { return peers_.size(); }
  [[nodiscard]] std::uint64_t bytes_sent() const override { return bytes_sent_; }

  void exchange(size_t to, std::span<const std::byte> out, size_t from,
                std::span<std::byte> in) override {
    send(to, out);
    receive(from, in);
  }

  void send(size_t to, std::span<const std::byte> out) override {
    bytes_sent_ += out.size();
    if (to == own_)
      return take_in(to, out);
    {
      const std::lock_guard lock(mutex_);
      waits_ = true;
      changed_.notify_all();
    }
    bool sent = false;
    try {
      sent = send_pieces(to, out);
    } catch (const std::exception& e) {
      lose(to, e);
    }
    const std::lock_guard lock(mutex_);
    waits_ = false;
    if (!sent)
      throw team_broken(broken_);
  }

  void receive(size_t from, std::span<std::byte> in) override {
    wait([&] {
      peers_[from].came.take(in);
      return in.empty();
    });
  }

  [[nodiscard]] bool has_come(size_t from, size_t bytes) override {
    const std::lock_guard lock(mutex_);
    auto& p = peers_[from];
    if (p.came.size() >= bytes)
      return true;
    if (!broken_.empty())
      throw team_broken(broken_);
    p.wanted = bytes;
    changed_.notify_all();
    return false;
  }

  [[nodiscard]] size_t wait_for_any(size_t bytes, size_t last) override {
    size_t found = 0;
    wait([&] {
      for (size_t i = 1; i <= members(); ++i) {
        found = (last + i) % members();
        if (found != own_ && peers_[found].came.size() >= bytes)
          return true;
      }
      return false;
    });
    return found;
  }

private:
  using work = c10::intrusive_ptr<c10d::Work>;

  struct peer {
    inbound_bytes came;
    size_t wanted = 0; ///< By a call that did not wait for it.
  };

  struct message {
    at::Tensor content = at::empty({head_bytes + piece_bytes}, at::kByte);
    work sent{};
  };

  template<class Done>
  void wait(Done done) {
    std::unique_lock lock(mutex_);
    bool is_done = done();
    if (!is_done) {
      waits_ = true;
      changed_.notify_all();
      changed_.wait(lock, [&] { return (is_done = done()) || !broken_.empty(); });
      waits_ = false;
    }
    if (!is_done)
      throw team_broken(broken_);
  }

  /// Two messages are under way, so that one is made while the other is sent. False: the
  /// links are broken.
  bool send_pieces(size_t to, std::span<const std::byte> out) {
    for (size_t i = 0; !out.empty(); i = 1 - i) {
      const auto piece = out.first(std::min(piece_bytes, out.size()));
      out = out.subspan(piece.size());
      if (!complete(messages_[i].sent))
        return false;
      start(messages_[i], to, piece);
    }
    return complete(messages_[0].sent) && complete(messages_[1].sent);
  }

  void start(message& m, size_t to, std::span<const std::byte> piece) {
    const std::uint64_t size = piece.size();
    auto* content = m.content.mutable_data_ptr<std::uint8_t>();
    std::memcpy(content, &size, head_bytes);
    std::memcpy(content + head_bytes, piece.data(), size);
    std::vector<at::Tensor> one{
        m.content.narrow(0, 0, static_cast<std::int64_t>(head_bytes + size))};
    m.sent = group_->send(one, static_cast<int>(to), tag);
  }

  /// Blocks until Gloo has done it, and forgets it. False: the links are broken.
  bool complete(work& w) {
    if (!w)
      return true;
    std::unique_lock lock(mutex_);
    if (!broken_.empty())
      return false;
    const auto waited = waited_.insert(waited_.end(), std::exchange(w, {}));
    lock.unlock();
    bool done = false;
    std::exception_ptr failed;
    try {
      done = (*waited)->wait(forever);
    } catch (...) {
      failed = std::current_exception();
    }
    lock.lock();
    waited_.erase(waited);
    if (failed)
      std::rethrow_exception(failed);
    return done;
  }

  void receive_all(size_t from) {
    try {
      std::vector<at::Tensor> one{at::empty({head_bytes + piece_bytes}, at::kByte)};
      const auto* content = one.front().const_data_ptr<std::uint8_t>();
      while (wait_for_room(from)) {
        work w = group_->recv(one, static_cast<int>(from), tag);
        if (!complete(w))
          return;
        std::uint64_t size = 0;
        std::memcpy(&size, content, head_bytes);
        TORCH_CHECK(size <= piece_bytes, "it sent a message of ", size, " bytes");
        take_in(from, std::as_bytes(std::span(content + head_bytes, size)));
      }
    } catch (const std::exception& e) {
      lose(from, e);
    }
  }

  /// False: the links are broken.
  bool wait_for_room(size_t from) {
    std::unique_lock lock(mutex_);
    const auto& p = peers_[from];
    changed_.wait(lock, [&] {
      return !broken_.empty() || waits_ || p.came.size() < std::max(most_kept, p.wanted);
    });
    return broken_.empty();
  }

  void take_in(size_t from, std::span<const std::byte> piece) {
    const std::lock_guard lock(mutex_);
    peers_[from].came.add(piece);
    changed_.notify_all();
  }

  void watch() {
    std::unique_lock lock(mutex_);
    while (!breaks_.wait_for(lock, look_every, [&] { return !broken_.empty(); })) {
      lock.unlock();
      try {
        for (size_t m = 0; m < members(); ++m)
          if (m != own_)
            static_cast<void>(met_->has_come(m, 1));
      } catch (const team_broken& why) {
        break_up(why.what());
      }
      lock.lock();
    }
  }

  void lose(size_t member, const std::exception& e) {
    // The rest of an exception of LibTorch is a stack.
    break_up(fmt::format("member {} is lost: {}", member, first_line_of(e.what())));
  }

  void break_up(const std::string& why) {
    const std::lock_guard lock(mutex_);
    if (!broken_.empty())
      return;
    broken_ = why;
    for (const auto& w : waited_)
      w->abort();
    changed_.notify_all();
    breaks_.notify_all();
  }

  std::unique_ptr<links> met_; ///< Used by the thread that watches alone.
  const size_t own_;
  std::uint64_t bytes_sent_ = 0;
  std::array<message, 2> messages_;

  std::mutex mutex_; // The mutex of the members that follow, up to `waited_`.
  std::condition_variable changed_, breaks_;
  std::vector<peer> peers_;
  bool waits_ = false; ///< A call waits, during which all that others send is taken in.
  std::string broken_; ///< Why.
  std::list<work> waited_;

  group group_;
  std::vector<std::thread> threads_;
};

} // namespace

std::unique_ptr<links> make_gloo_links(std::unique_ptr<links> met,
                                       const std::string& address) {
  if (met->members() == 1)
    return met; // It has nothing to carry, and alone hears of others.
  try {
    return std::make_unique<gloo_links>(std::move(met), address);
  } catch (const std::exception& e) { // Perhaps with what `met` has said.
    throw team_broken(fmt::format("Gloo does not connect the members from {}: {}",
                                  address, first_line_of(e.what())));
  }
}

} // namespace clade
