#pragma once

#include "engine/collectives/links.hpp"

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

namespace clade {

/// Streams between threads of one process, each of which takes one of its links.
class memory_streams {
public:
  explicit memory_streams(std::size_t members);

  [[nodiscard]] std::size_t members() const { return members_; }
  [[nodiscard]] std::unique_ptr<links> link(std::size_t member);

  /// From now on every call of every link throws.
  void break_up();

private:
  friend class memory_links;

  [[nodiscard]] std::deque<std::byte>& stream(std::size_t from, std::size_t to) {
    return streams_[from * members_ + to];
  }

  std::size_t members_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::deque<std::byte>> streams_;
  bool broken_ = false;
};

} // namespace clade
