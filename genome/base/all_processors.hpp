#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace clade {

/// Calls `work` with each number below `count`, on as many threads as there are
/// processors. An exception of one of them is thrown here.
template<class Work>
void on_all_processors(std::size_t count, const Work& work) {
  std::atomic<std::size_t> next = 0;
  std::exception_ptr thrown;
  std::mutex guard;
  const auto turn = [&] {
    try {
      for (std::size_t i = next++; i < count; i = next++)
        work(i);
    } catch (...) {
      next = count;
      const std::lock_guard lock(guard);
      thrown = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> others;
    const std::size_t processors = std::max(1U, std::thread::hardware_concurrency());
    for (std::size_t t = 1; t < std::min(processors, count); ++t)
      others.emplace_back(turn);
    turn();
  }
  if (thrown)
    std::rethrow_exception(thrown);
}

} // namespace clade
