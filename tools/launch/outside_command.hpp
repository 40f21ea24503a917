#pragma once

#include "genome/base/error.hpp"
#include "genome/base/unique_fd.hpp"

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace clade {

struct outside_command_params {
  std::vector<std::string> command; ///< A program, looked for in PATH, and its arguments.
  std::string input = {};           ///< The text that it reads.
  bool keep_errors = false; ///< Keep its standard error too; else it goes to ours.
};

/// A program that is not ours, such as ssh or sbatch. The texts that it reads and writes
/// are kept in memory, never in a file that others could open.
class outside_command {
public:
  struct ending {
    int status = 0; ///< 128 + N where signal N killed it, as a shell has it.
    std::string output;
  };

  [[nodiscard]] static expected<outside_command>
  start(const outside_command_params& params);

  outside_command(outside_command&& other) noexcept
      : process_(std::exchange(other.process_, 0)),
        output_(std::move(other.output_)) {}
  outside_command& operator=(outside_command&& other) noexcept {
    std::swap(process_, other.process_);
    std::swap(output_, other.output_);
    return *this;
  }
  ~outside_command(); ///< Kills it if nobody waited for its end.

  /// Blocks until it ends; once.
  [[nodiscard]] expected<ending> finish();

private:
  outside_command(pid_t process, unique_fd output)
      : process_(process),
        output_(std::move(output)) {}

  pid_t process_ = 0;
  unique_fd output_;
};

/// Starts and finishes it.
[[nodiscard]] expected<outside_command::ending>
run_outside(const outside_command_params& params);

/// Runs a program with the standard streams of this one until it ends, and returns its
/// status, as `outside_command::ending` has it.
[[nodiscard]] expected<int> run_attached(const std::vector<std::string>& command);

/// Starts a process in a session of its own, which goes on when this one and its terminal
/// are gone. Its output is appended to `log` (mode 0600).
[[nodiscard]] expected<pid_t> start_detached(const std::vector<std::string>& command,
                                             const std::filesystem::path& log);

} // namespace clade
