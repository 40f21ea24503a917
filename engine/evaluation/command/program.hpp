#pragma once

#include "genome/error.hpp"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace clade {

/// A program of somebody else's, to be run once.
struct program_params {
  std::vector<std::string> command; ///< The program and its arguments.
  std::filesystem::path directory;  ///< Where it runs.
  std::string input;                ///< Its standard input.
  std::chrono::milliseconds time{0};
  /// Resident in all of its processes together.
  std::uint64_t memory_bytes = 0;
  /// Is asked many times a second whether anybody waits for the end; unset: somebody.
  std::function<bool()> wanted = {};
};

/// Why a program ended. What ended early has no more to say.
enum class program_end { by_itself, timed_out, out_of_memory, unwanted };

struct program_result {
  program_end end = program_end::by_itself;
  /// As of `waitpid`.
  int status = 0;
  std::string output; ///< The last MiB at most of its standard output.
  std::string errors; ///< The last 64 KiB at most of its standard error.
};

/// Returns the path of `command`'s program, which is to run in `directory`. An error says
/// what is not there.
[[nodiscard]] expected<std::filesystem::path>
program_file(const std::vector<std::string>& command,
             const std::filesystem::path& directory);

/// Runs it in a process group of its own, with this process's environment, and waits for
/// its end. No process that it has started, in whatever group or session, outlives the
/// call, nor this process. Of times and bytes 0 means unlimited. Over its time, and when
/// nobody wants its end any more, its group is told to end (SIGTERM), and everything is
/// killed half a second later; over its memory it is killed. An error: it could not be
/// started.
[[nodiscard]] expected<program_result> run_program(const program_params& params);

} // namespace clade
