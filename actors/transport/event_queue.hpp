#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

namespace clade {

/// From actors to a thread that is none. Not a mailbox, because CAF 0.17 waits for
/// messages by the clock on the wall, which may be set.
template<class Event>
class event_queue {
public:
  void push(Event e) {
    {
      std::lock_guard lock(mutex_);
      queue_.push_back(std::move(e));
    }
    changed_.notify_one();
  }

  /// Blocks until there is one, or the time has passed.
  std::optional<Event> pop(std::chrono::milliseconds most) {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, most, [this] { return !queue_.empty(); }))
      return std::nullopt;
    auto first = std::move(queue_.front());
    queue_.pop_front();
    return first;
  }

private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Event> queue_;
};

} // namespace clade
