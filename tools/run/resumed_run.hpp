#pragma once

#include "engine/run/state/run_state.hpp"
#include "engine/store/run/store.hpp"
#include "tools/run/new_run.hpp"

#include <filesystem>
#include <string>

namespace clade {

struct resume_params {
  std::filesystem::path folder; ///< The folder of the run, absolute.
  std::string slots;            ///< In place of slots.local; empty: as it had.
  std::string listen;           ///< In place of slots.listen; empty: as it had.
};

/// A stored run that holds together with its data and is open to go on.
struct resumed_run {
  checked_experiment checked;
  store file;
  run_state state; ///< The state; if `state.finished`, nothing is left to do.
};

/// Opens a run that was stopped or killed. Records nothing.
[[nodiscard]] expected<resumed_run> open_to_resume(const resume_params& params);

/// Records that the run is resumed, which `run_session` is to follow.
[[nodiscard]] expected<void> record_resumed(resumed_run& run);

} // namespace clade
