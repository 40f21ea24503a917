#pragma once

#include "genome/base/error.hpp"

#include <sys/types.h>

#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace clade {

/// How to start a process. Descriptors stay the caller's; -1 is that of this process.
struct child_params {
  std::vector<std::string> command;          ///< The program's path and its arguments.
  std::vector<std::string> environment = {}; ///< "NAME=value" beside what this one has.
  /// The folder in which it works; empty: the one in which this process works.
  std::filesystem::path directory = {};
  std::vector<unsigned> cores = {}; ///< That it may run on; empty: those of this process.
  int input = -1, output = -1, errors = -1;
  int inherited = -1;         ///< A descriptor that it has beside these three.
  std::optional<pid_t> group; ///< Its process group; 0: a new one.
  bool own_session = false;  ///< So that it goes on when this process's terminal is gone.
  bool dies_with_us = false; ///< It is killed when the calling thread ends.
  bool is_foreign = false; ///< Signals that this process ignores have their usual effect,
                           ///< and limits of its private memory do not bind it.
  /// Is called in the new process before all else, where it must not allocate. The new
  /// process becomes the program if this returns true; else errno says why not.
  std::function<bool()> first = {};
};

/// Starts it with no signal blocked; whoever does waits for its end. Blocks until the
/// program runs. An error is `not_found` where there is no such program.
[[nodiscard]] expected<pid_t> start_child(const child_params& params);

/// Returns the path of a program: a name with a slash is looked for in `directory`,
/// another in the folders of PATH. An error is `not_found`, or `invalid_input` of a script
/// whose first line ends as on Windows, for which no system finds an interpreter.
[[nodiscard]] expected<std::filesystem::path>
find_program(const std::string& name, const std::filesystem::path& directory = {});

/// Refuses (`invalid_input`) a command whose program is a shell and whose script, a file that
/// `directory` has, ends its lines as on Windows: the shell would take the carriage returns
/// for parts of words.
[[nodiscard]] expected<void>
check_shell_script(const std::vector<std::string>& command,
                   const std::filesystem::path& directory = {});

/// "ended with status 3", "killed by signal 9 (Killed)".
[[nodiscard]] std::string describe_exit(int wait_status);

/// For a process that a signal has ended, it is 128 and the signal's number, as in a
/// shell.
[[nodiscard]] int exit_code(int wait_status);

/// How many cores this process may run on, and so may what it starts.
[[nodiscard]] std::size_t available_cores();

} // namespace clade
