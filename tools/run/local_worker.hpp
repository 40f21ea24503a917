#pragma once

#include "tools/machine/supervisor.hpp"

#include <chrono>
#include <optional>
#include <string>

namespace clade {

/// The worker process of the machine that the head runs on: the same command that another
/// machine would start, so that a local search and a distributed one are the same code.
/// It dies with the thread that started it, and is started again if it dies alone.
class local_worker {
public:
  using clock = std::chrono::steady_clock;

  /// `process.command` has the worker's slots behind "--slots"; "none" starts none, as a
  /// run may leave all work to other machines.
  explicit local_worker(process_params process);
  /// Interrupts it, unless it leaves, and waits for its end.
  ~local_worker();
  local_worker(const local_worker&) = delete;
  local_worker& operator=(const local_worker&) = delete;

  /// Starts it if it does not run, at most once a second. An error if it cannot be
  /// started, or if it ended because it was refused.
  [[nodiscard]] expected<void> keep_alive(clock::time_point now);

  /// Has the process end and the next one take these slots. Trainings under way are
  /// finished first, or handed back.
  void change_slots(const std::string& slots);

  /// Has the process end within `leaving_time`: what is in training may finish for
  /// `finishing_time`, then it keeps where it stands, for the same run resumed here. It is
  /// not to be kept alive any more.
  void leave();
  /// Blocks until a process that leaves has ended.
  void await_end();

  static constexpr std::chrono::seconds finishing_time{8}, leaving_time{20};

  /// Kills it, and with it all that it runs. It is not to be kept alive any more.
  void end_now();

private:
  [[nodiscard]] std::string& slots();
  [[nodiscard]] bool wanted() { return slots() != "none"; }

  process_params params_;
  pid_t process_ = 0;
  std::optional<clock::time_point> started_;
  bool leaves_ = false;
};

} // namespace clade
