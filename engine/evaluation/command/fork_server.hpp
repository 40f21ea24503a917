#pragma once

#include "engine/evaluation/process/guarded_process.hpp"
#include "engine/evaluation/process/program.hpp"
#include "engine/evaluation/process/program_group.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace clade {

struct program_ends;

/// A Python that has loaded modules once, and forks a process of itself for each script
/// that is to run: what takes a script seconds to import is there at once (as the method
/// "forkserver" of Python's multiprocessing does). The script itself is not changed.
///
/// It runs below a guard like a program, and sees what the first script may see: the same
/// isolation and control group count for all.
class fork_server {
public:
  explicit fork_server(std::vector<std::string> modules) : modules_(std::move(modules)) {}

  /// Does the same as `run_program`, for a command that is a Python, a script or "-m" and
  /// a module, and arguments. Starts the server where there is none, with the command's
  /// Python and environment; the time that loading takes is the program's. If modules
  /// cannot be loaded, the program ends with status 1 and says so. After a program that
  /// had to be killed, or took too much memory, the next has a new server.
  [[nodiscard]] expected<program_result> run(const program_params& params);

private:
  struct server {
    std::optional<program_group> group;
    std::unique_ptr<guarded_process> process;
    unique_fd line;
    pid_t id = 0; ///< The process of the Python itself.
  };
  class forked_program;

  expected<void> start(const program_params& params);
  expected<void> ask(const program_params& params, const program_ends& ends);

  std::vector<std::string> modules_;
  std::optional<server> server_;
};

/// The program of the server, in Python.
[[nodiscard]] std::string_view fork_server_text();

} // namespace clade
