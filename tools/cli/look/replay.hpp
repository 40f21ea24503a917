#pragma once

#include "tools/run/forked_run.hpp"

#include <string>

namespace clade {

/// The actions of `clade replay` on the records of a run; each returns the exit status.

/// Makes every decision again (engine/run/steps/verify.hpp) and says whether all are
/// equal: 0, or 1 and the first that differs, or 2 where the store cannot be read.
[[nodiscard]] int verify_run(const opened_run& run, bool json);

struct retrain_options {
  std::string which; ///< A candidate's number, "champion" or "all".
  /// The slots to train on; empty: on the kind of device that it was trained on.
  std::string slots;
  bool json = false;
};

/// Trains candidates again, in the environment of a slot, and compares bit for bit: 0,
/// also for differences on another kind of device, or 1 where they differ on the same.
[[nodiscard]] int retrain_run(const opened_run& run, const retrain_options& options);

struct fork_options {
  fork_params fork;
  bool json = false;
};

/// Forks the run and says how to go on with the new one.
[[nodiscard]] int fork_run(const opened_run& run, const fork_options& options);

} // namespace clade
