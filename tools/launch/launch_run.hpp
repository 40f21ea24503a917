#pragma once

#include "tools/run/new_run.hpp"

#include <optional>
#include <string>

namespace clade {

/// Which run workers are launched for.
struct launch_run_params {
  new_run_params fresh; ///< A new one, where `fresh.file` is not empty,
  std::string running;  ///< or one that runs on this machine: folder or name.
  /// The address at which a new one listens; port 0: one that is free.
  std::string listen = "0.0.0.0:0";
  /// How the workers' machines call this one; empty: by its own name, where the run
  /// listens on all addresses.
  std::string host;
};

/// A run that listens on this machine.
struct launched_run {
  std::filesystem::path folder;
  std::string connect; ///< For its workers: "login1:7411"
  pid_t started = 0;   ///< Its process, where `launch_run` started it.

  [[nodiscard]] std::string name() const { return folder.filename().string(); }
  /// Returns the folder of the bundle that lets workers in.
  [[nodiscard]] std::filesystem::path bundle() const {
    return folder / "keys" / "worker";
  }
  [[nodiscard]] std::filesystem::path log() const { return folder / "output.log"; }
};

/// Finds the run, or makes it and starts its head as a process that goes on when this one
/// has ended; either way it listens when this returns.
[[nodiscard]] expected<launched_run> launch_run(const launch_run_params& params);

/// The same for nothing but to be shown: makes and starts nothing, and of a new run says
/// "NAME-TIME".
[[nodiscard]] expected<launched_run> imagine_run(const launch_run_params& params);

/// Ends and removes a run that was just started, because it got no workers. Not one that
/// ran before.
void discard(const launched_run& run);

} // namespace clade
