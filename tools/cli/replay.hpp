#pragma once

#include "engine/config/experiment.hpp"
#include "engine/run/verify.hpp"
#include "engine/store/store.hpp"

#include <filesystem>
#include <string>

namespace clade {

/// What `clade replay` does with the records of a run; each returns the exit status.

/// A store to be replayed.
struct replayed {
  store file;
  std::filesystem::path path;
};

/// How a run with this experiment decides. One that trains needs its data: they say what
/// networks must fit.
[[nodiscard]] expected<replay_rules> replay_rules_of(const experiment& e);

/// Makes every decision again (engine/run/verify.hpp) and says whether all are
/// equal: 0, or 1 and the first that differs, or 2 where the store cannot be read.
[[nodiscard]] int verify_run(const replayed& run, bool json);

struct retrain_options {
  std::string which; ///< A candidate's number, "champion" or "all".
  std::string slots; ///< Where; empty: on the kind of device that it was trained on.
  bool json = false;
};

/// Trains candidates again, in the environment of a slot, and compares bit for bit: 0,
/// also for differences on another kind of device, or 1 where they differ on the same.
[[nodiscard]] int retrain_run(const replayed& run, const retrain_options& options);

struct fork_options {
  std::uint64_t generation = 0;
  std::vector<std::string> changes; ///< "evolution.population=48"
  std::string name;
  bool json = false;
};

/// Makes a new run of what is stored up to the start of a generation, with changes, and
/// says how to go on with it. The best that were taken over and whose weights are not
/// kept are trained again by the changed rules, should the test data meet them.
[[nodiscard]] int fork_run(const replayed& run, const fork_options& options);

} // namespace clade
