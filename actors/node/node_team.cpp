#include "actors/node/node_team.hpp"

#include "actors/transport/tls/stranger_guard.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdio>

namespace clade {

namespace {

using namespace std::chrono_literals;

// Members hear of a formation at different times; one that does not come meanwhile is
// lost, which the head notices and tells.
constexpr std::chrono::milliseconds forming_time = 5s;

/// Links of which is known what they carry and how long they wait.
class watched_links final : public links {
public:
  watched_links(std::unique_ptr<links> all, traffic& seen)
      : all_(std::move(all)),
        seen_(seen) {}

  [[nodiscard]] std::size_t own() const override { return all_->own(); }
  [[nodiscard]] std::size_t members() const override { return all_->members(); }
  [[nodiscard]] std::uint64_t bytes_sent() const override { return all_->bytes_sent(); }
  void exchange(std::size_t to, std::span<const std::byte> out, std::size_t from,
                std::span<std::byte> in) override {
    const waiting w(seen_);
    all_->exchange(to, out, from, in);
    seen_.sent(out.size());
  }
  void send(std::size_t to, std::span<const std::byte> out) override {
    const waiting w(seen_);
    all_->send(to, out);
    seen_.sent(out.size());
  }
  void receive(std::size_t from, std::span<std::byte> in) override {
    const waiting w(seen_);
    all_->receive(from, in);
  }
  [[nodiscard]] bool has_come(std::size_t from, std::size_t bytes) override {
    return all_->has_come(from, bytes);
  }
  [[nodiscard]] std::size_t wait_for_any(std::size_t bytes, std::size_t last) override {
    const waiting w(seen_);
    return all_->wait_for_any(bytes, last);
  }

private:
  /// Adds the time of a call.
  class waiting {
  public:
    explicit waiting(traffic& seen) : seen_(seen) { seen_.begin_waiting(); }
    ~waiting() { seen_.end_waiting(); }
    waiting(const waiting&) = delete;
    waiting& operator=(const waiting&) = delete;

  private:
    traffic& seen_;
  };

  std::unique_ptr<links> all_;
  traffic& seen_;
};

std::uint64_t microseconds(std::chrono::steady_clock::duration time) {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::microseconds>(time).count());
}

constexpr const char* this_machine = "127.0.0.1";

} // namespace

void traffic::begin_waiting() {
  const std::lock_guard lock(mutex_);
  waits_since_ = clock::now();
}

void traffic::end_waiting() {
  const std::lock_guard lock(mutex_);
  waited_ += clock::now() - *waits_since_;
  waits_since_.reset();
}

std::chrono::steady_clock::duration traffic::waited() const {
  const std::lock_guard lock(mutex_);
  return waits_since_ ? waited_ + (clock::now() - *waits_since_) : waited_;
}

node_team::node_team(std::size_t shares, std::shared_ptr<team_entrance> entrance)
    : shares_(shares),
      entrance_(std::move(entrance)),
      interrupt_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

void node_team::interrupt() const {
  const std::uint64_t one = 1;
  // It is readable already if this fails.
  static_cast<void>(!::write(interrupt_.get(), &one, sizeof(one)));
}

// A member whose host is not said is on the head's machine.
team_formation node_team::formation_of(const team_formed& m) const {
  team_formation f{.task = m.id.candidate,
                   .generation = m.generation,
                   .checksum = entrance_->checksum,
                   .own = m.own,
                   .members = {}};
  for (const auto& member : m.members) {
    const bool here = member.worker == entrance_->worker;
    const auto& host =
        member.address.host.empty() ? entrance_->head : member.address.host;
    f.members.push_back(
        {.host = here ? this_machine : host, .port = member.address.port});
  }
  return f;
}

void node_team::formed(const team_formed& message) {
  const std::lock_guard lock(mutex_);
  if (newest_ && newest_->generation >= message.generation)
    return;
  newest_ = formation_of(message);
  interrupt();
  changed_.notify_all();
}

void node_team::drop() {
  const std::lock_guard lock(mutex_);
  dropped_ = true;
  interrupt();
  changed_.notify_all();
}

bool node_team::answers() const {
  const std::lock_guard lock(mutex_);
  return newest_ && newest_->own == 0;
}

std::uint64_t node_team::generation() const {
  const std::lock_guard lock(mutex_);
  return newest_ ? newest_->generation : 0;
}

team_passed node_team::passed() const {
  const auto time = std::chrono::steady_clock::now() - since_;
  return {.exchanges = exchanges_,
          .bytes_sent = traffic_.bytes_sent(),
          .waited_us = microseconds(traffic_.waited()),
          .time_us = microseconds(time)};
}

bool node_team::is_alone() const {
  const std::lock_guard lock(mutex_);
  return newest_ && newest_->members.size() == 1;
}

team_formation node_team::next_formation() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return dropped_ || newest_; });
  if (dropped_)
    throw task_dropped("nobody wants it any more");
  std::uint64_t count = 0;
  static_cast<void>(!::read(interrupt_.get(), &count, sizeof(count)));
  return *newest_;
}

void node_team::has_done(std::uint64_t exchanges) {
  exchanges_ = exchanges;
  if (!broken_since_)
    return;
  const auto still = std::chrono::steady_clock::now() - *broken_since_;
  broken_since_.reset();
  std::fprintf(stderr, "clade node: the team went on after %lld ms\n",
               static_cast<long long>(
                   std::chrono::duration_cast<std::chrono::milliseconds>(still).count()));
}

links& node_team::form() {
  links_.reset();
  if (exchanges_ > 0 && !broken_since_)
    broken_since_ = std::chrono::steady_clock::now();
  for (;;) {
    const auto formation = next_formation();
    try {
      std::unique_ptr<links> linked =
          entrance_->door->link(formation, interrupt_.get(), forming_time);
      if (carrier_)
        linked = carrier_(std::move(linked));
      links_ = std::make_unique<watched_links>(std::move(linked), traffic_);
      return *links_;
    } catch (const team_broken& why) {
      std::fprintf(stderr, "clade node: team of #%llu: %s\n",
                   static_cast<unsigned long long>(formation.task), why.what());
    }
  }
}

expected<std::unique_ptr<team_entrance>> make_entrance(const key_files& keys, bool open) {
  auto door = team_door::open(keys, open ? "0.0.0.0" : this_machine);
  if (!door)
    return tl::unexpected(std::move(door).error());
  if (!open)
    admit_own_user_only((*door)->port());
  auto made = std::make_unique<team_entrance>();
  made->door = std::move(*door);
  return made;
}

} // namespace clade
