#pragma once

#include <barrier>
#include <cstddef>
#include <exception>
#include <functional>
#include <thread>
#include <vector>

namespace clade {

/// Threads that do a piece of work together, again and again. The caller is one of them.
class thread_team {
public:
  /// `parts` in all, at least one; `prepare` is called first in each but the caller.
  thread_team(std::size_t parts, std::function<void()> prepare);
  ~thread_team();
  thread_team(const thread_team&) = delete;
  thread_team& operator=(const thread_team&) = delete;

  [[nodiscard]] std::size_t parts() const { return failures_.size(); }

  /// Calls `work` with each part's number, each in its own thread, 0 in the caller's, and
  /// returns when all have returned. If several throw, the exception of the first part is
  /// thrown on.
  void run(const std::function<void(std::size_t)>& work);

private:
  void serve(std::size_t part);
  void do_part(std::size_t part);

  std::function<void()> prepare_;
  const std::function<void(std::size_t)>* work_ = nullptr; ///< Null: it is over.
  std::vector<std::exception_ptr> failures_;
  std::barrier<> begins_, ends_;
  std::vector<std::thread> threads_;
};

} // namespace clade
