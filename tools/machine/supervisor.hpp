#pragma once

#include "genome/base/error.hpp"
#include "genome/base/unique_fd.hpp"

#include <sys/resource.h>
#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <deque>
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
  /// A descriptor that it inherits; -1: none but the standard ones.
  int inherited = -1;
  /// The file to which its standard output and error go, appended; empty: where ours go.
  std::filesystem::path log;
};

/// Starts it in a process group of its own; it is killed when this process's calling
/// thread ends, so that nothing is left over after a crash.
[[nodiscard]] expected<pid_t> start_process(const process_params& params);

/// Whether this process leaves a signal aside, as nohup makes its command do with SIGHUP.
[[nodiscard]] bool is_ignored(int signal);

/// Says how a node process ended: "ended with status 4 (stuck)", "killed by signal 9
/// (Killed)". `own_doing`: the process itself is to blame.
[[nodiscard]] std::string describe_node_end(int wait_status, bool own_doing);

struct supervisor_params {
  /// One node process each.
  std::vector<process_params> slots;
  /// A process that gave no pulse for so long is stopped or hangs: it is killed, and
  /// another takes its place.
  std::chrono::milliseconds silence{10'000};
  /// How long processes may take to drain.
  std::chrono::milliseconds grace{30'000};
  /// The share of the machine's memory that a process may take: one that had more when
  /// the kernel ended it for want of memory is to blame. 0: none is.
  std::uint64_t memory_share = 0;
};

/// Keeps one node process for each slot alive: started again at once when a signal killed
/// it or it lived for 10 s, else after pauses that double from 250 ms to 30 s. A node
/// that ends with status 0 was dismissed, one with status 2 was refused, one with status
/// 5 found no head for too long; its slot is done. One with status 7 was told to leave by
/// somebody else, and is started again. At the end of its command each has
/// `--pulse N`, a pipe into which it writes a byte each second, `--session N`, its
/// number, and for each of the latest processes of its slot `--former SESSION:0 or
/// 1:HOW`: how it ended, and whether by its own doing. Blocks; the thread must be the
/// process's first.
class supervisor {
public:
  explicit supervisor(supervisor_params params);

  /// Until all slots are done. At SIGTERM, or SIGHUP unless it is ignored, the nodes are
  /// told to drain, and given their grace; so they are at SIGUSR1, however often it comes.
  /// At SIGINT, or a second SIGTERM, they are killed. The exit status: 0, 1 if no head
  /// was found, 2 if the run refused a node.
  [[nodiscard]] expected<int> keep_alive();

private:
  using clock = std::chrono::steady_clock;

  struct slot {
    process_params params;
    pid_t process = 0;
    unique_fd pulse; ///< The pipe's end that is read.
    std::uint64_t session = 0;
    std::uint64_t kills_before = 0; ///< The kills by the kernel, for want of memory.
    bool sent_signal = false; ///< A signal that looks like a fault came from elsewhere.
    std::deque<std::string> former;
    clock::time_point started;
    clock::time_point heard;
    std::chrono::milliseconds pause{0};
    clock::time_point start_again;
    bool done = false;
  };

  void start_due();
  expected<void> start(slot& s);
  void start_later(slot& s, std::chrono::milliseconds pause, const std::string& why);
  void wait(int signals);
  void hear();
  void kill_silent();
  void reap();
  void ended(slot& s, int status, const rusage& used);
  void read_pulse(slot& s);
  [[nodiscard]] bool own_doing(const slot& s, int status, const rusage& used) const;
  void drain();
  void end_all();
  [[nodiscard]] std::chrono::milliseconds until_next_step() const;

  supervisor_params params_;
  std::vector<slot> slots_;
  clock::time_point last_look_;
  clock::time_point drained_;
  bool draining_ = false;
  int status_ = 0;
};

} // namespace clade
