#pragma once

#include "genome/error.hpp"

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

namespace clade {

/// How to start a process.
struct process_params {
  std::vector<std::string> command; ///< The program's path and its arguments.
  /// "NAME=value" beside what this process has.
  std::vector<std::string> environment;
  /// The CPU cores that it may run on; empty: those of this process.
  std::vector<unsigned> cores;
  /// Where its standard output and error go, appended; empty: where ours go.
  std::filesystem::path log;
};

/// Starts it; it is killed when this process's calling thread ends, so that nothing is
/// left over after a crash.
[[nodiscard]] expected<pid_t> start_process(const process_params& params);

/// "ended with status 3", "was killed by signal 9 (Killed)".
[[nodiscard]] std::string describe_exit(int wait_status);

/// Keeps one node process for each slot alive: started again at once when a signal killed
/// it or it lived for 10 s, else after pauses that double from 250 ms to 30 s. A node
/// that ends with status 0 was dismissed, one that ends with status 2 was refused; either
/// way its slot is done. Blocks; the thread must be the process's first.
class supervisor {
public:
  explicit supervisor(std::vector<process_params> slots);

  /// Until all slots are done, or SIGTERM or SIGINT, at which the nodes are killed. The
  /// exit status: 0, or 2 if the run refused a node.
  [[nodiscard]] expected<int> keep_alive();

private:
  using clock = std::chrono::steady_clock;

  struct slot {
    process_params params;
    pid_t process = 0;
    clock::time_point started;
    std::chrono::milliseconds pause{0};
    clock::time_point start_again;
    bool done = false;
  };

  expected<void> start_due();
  void reap();
  void end_all();
  [[nodiscard]] std::chrono::milliseconds until_next_start() const;

  std::vector<slot> slots_;
  bool refused_ = false;
};

} // namespace clade
