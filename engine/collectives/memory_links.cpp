#include "engine/collectives/memory_links.hpp"

#include <algorithm>

namespace clade {

class memory_links final : public links {
public:
  memory_links(memory_streams& streams, std::size_t own) : all_(streams), own_(own) {}

  [[nodiscard]] std::size_t own() const override { return own_; }
  [[nodiscard]] std::size_t members() const override { return all_.members(); }
  [[nodiscard]] std::uint64_t bytes_sent() const override { return sent_; }

  void exchange(std::size_t to, std::span<const std::byte> out, std::size_t from,
                std::span<std::byte> in) override {
    send(to, out);
    receive(from, in);
  }

  void send(std::size_t to, std::span<const std::byte> out) override {
    const std::lock_guard lock(all_.mutex_);
    check();
    auto& s = all_.stream(own_, to);
    s.insert(s.end(), out.begin(), out.end());
    sent_ += out.size();
    all_.changed_.notify_all();
  }

  void receive(std::size_t from, std::span<std::byte> in) override {
    std::unique_lock lock(all_.mutex_);
    auto& s = all_.stream(from, own_);
    wait(lock, [&] { return s.size() >= in.size(); });
    const auto end = s.begin() + static_cast<std::ptrdiff_t>(in.size());
    std::copy(s.begin(), end, in.begin());
    s.erase(s.begin(), end);
  }

  [[nodiscard]] bool has_come(std::size_t from, std::size_t bytes) override {
    const std::lock_guard lock(all_.mutex_);
    check();
    return all_.stream(from, own_).size() >= bytes;
  }

  [[nodiscard]] std::size_t wait_for_any(std::size_t bytes, std::size_t last) override {
    std::unique_lock lock(all_.mutex_);
    std::size_t found = 0;
    wait(lock, [&] {
      for (std::size_t i = 1; i <= members(); ++i) {
        found = (last + i) % members();
        if (found != own_ && all_.stream(found, own_).size() >= bytes)
          return true;
      }
      return false;
    });
    return found;
  }

private:
  void check() const {
    if (all_.broken_)
      throw team_broken("the team was broken up");
  }
  template<class Condition>
  void wait(std::unique_lock<std::mutex>& lock, const Condition& there) {
    all_.changed_.wait(lock, [&] { return all_.broken_ || there(); });
    check();
  }

  memory_streams& all_;
  std::size_t own_;
  std::uint64_t sent_ = 0;
};

memory_streams::memory_streams(std::size_t members)
    : members_(members),
      streams_(members * members) {}

std::unique_ptr<links> memory_streams::link(std::size_t member) {
  return std::make_unique<memory_links>(*this, member);
}

void memory_streams::break_up() {
  const std::lock_guard lock(mutex_);
  broken_ = true;
  changed_.notify_all();
}

} // namespace clade
