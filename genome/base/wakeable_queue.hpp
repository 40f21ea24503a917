#pragma once

#include "genome/base/unique_fd.hpp"

#include <poll.h>
#include <sys/eventfd.h>

#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace clade {

/// Values from any thread for one thread, which waits for them beside other descriptors.
/// Waiting here does not depend on the clock on the wall, which may be set.
template<class T>
class wakeable_queue {
public:
  wakeable_queue() : event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

  /// Whether the system had a descriptor for it.
  [[nodiscard]] bool usable() const { return static_cast<bool>(event_); }

  /// Returns whether it is taken: nothing is once the queue is closed.
  bool put(T value) {
    {
      const std::lock_guard lock(mutex_);
      if (closed_)
        return false;
      values_.push_back(std::move(value));
    }
    wake();
    return true;
  }

  void close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }

  /// Makes the descriptor readable, although there may be no value.
  void wake() const {
    // It fails only where the counter is full, which wakes as well.
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = ::write(event_.get(), &one, sizeof one);
  }

  // For the one thread:

  /// Readable while there are values, and after `wake`.
  [[nodiscard]] int descriptor() const { return event_.get(); }

  /// Returns all values and makes the descriptor unreadable.
  [[nodiscard]] std::vector<T> take() {
    clear();
    const std::lock_guard lock(mutex_);
    return std::exchange(values_, {});
  }

  /// Returns the first value; blocks until there is one, or the time has passed.
  [[nodiscard]] std::optional<T> pop(std::chrono::milliseconds most) {
    const auto until = std::chrono::steady_clock::now() + most;
    for (;;) {
      {
        const std::lock_guard lock(mutex_);
        if (!values_.empty()) {
          auto first = std::move(values_.front());
          values_.erase(values_.begin());
          return first;
        }
        clear();
      }
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(
          until - std::chrono::steady_clock::now());
      if (left.count() <= 0)
        return std::nullopt;
      pollfd waited{.fd = event_.get(), .events = POLLIN, .revents = 0};
      ::poll(&waited, 1, static_cast<int>(left.count()));
    }
  }

private:
  void clear() const {
    // It fails only where nothing was written, and then nothing needs to be read.
    std::uint64_t count = 0;
    [[maybe_unused]] const auto read = ::read(event_.get(), &count, sizeof count);
  }

  unique_fd event_;
  std::mutex mutex_;
  std::vector<T> values_;
  bool closed_ = false;
};

} // namespace clade
