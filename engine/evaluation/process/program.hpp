#pragma once

#include "genome/base/error.hpp"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace clade {

class isolation;

/// A program of somebody else's, to be run once.
struct program_params {
  std::vector<std::string> command; ///< The program and its arguments.
  std::filesystem::path directory;  ///< The folder in which it runs.
  /// "NAME=value", beside or instead of what this process has.
  std::vector<std::string> environment = {};
  std::string input = {}; ///< Its standard input.
  /// A file that its standard output and error are appended to as they come, made when
  /// there is something to write; empty: none. It takes `log_bytes` of them.
  std::filesystem::path log = {};
  std::uint64_t log_bytes = 64 << 20;
  std::chrono::milliseconds time{0};
  /// Between the word to end and the kill.
  std::chrono::milliseconds grace{500};
  /// Resident in all of its processes together.
  std::uint64_t memory_bytes = 0;
  /// The isolation that it is kept in; null: nothing. Must outlive the call.
  const isolation* apart = nullptr;
  /// The control group below which it gets its own, so that the kernel keeps it within its
  /// memory; empty: it is watched instead, several times a second.
  std::filesystem::path groups = {};
  /// Is asked many times a second whether anybody waits for the end; unset: somebody.
  std::function<bool()> wanted = {};
  /// Hears of each line of its standard output, as it comes and without its end; of a
  /// line of more than 1 MiB it does not. Is called by the thread that runs the program.
  std::function<void(std::string_view line)> on_line = {};
};

/// Why a program ended. A program that ended early has no more to say.
enum class program_end { by_itself, timed_out, out_of_memory, unwanted };

struct program_result {
  program_end end = program_end::by_itself;
  /// The status as of `waitpid`.
  int status = 0;
  std::string output; ///< The last MiB at most of its standard output.
  std::string errors; ///< The last 64 KiB at most of its standard error.
  /// Why the log is not whole, such as a full disk; empty if it is.
  std::string log_trouble;
};

/// Returns the path of `command`'s program, which is to run in `directory`. An error says
/// what is not there.
[[nodiscard]] expected<std::filesystem::path>
program_file(const std::vector<std::string>& command,
             const std::filesystem::path& directory);

/// Runs it in a process group of its own and waits for its end. It inherits no descriptor
/// but its three streams. No process that it has started, in whatever group or session,
/// outlives the call, nor this process. For times and bytes, 0 means unlimited. Over its
/// time, and when nobody wants its end any more, its group is told to end (SIGTERM), and
/// everything that is left after `grace` is killed; `status` says how it took that. Over
/// its memory it is killed. An error: it could not be started.
[[nodiscard]] expected<program_result> run_program(const program_params& params);

} // namespace clade
