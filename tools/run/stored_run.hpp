#pragma once

#include "engine/config/experiment/experiment.hpp"
#include "engine/report/view/diff.hpp"
#include "engine/run/state/run_state.hpp"
#include "engine/run/steps/verify.hpp"

#include <string>

namespace clade {

/// The run that a person means by `name`, to be read as it is at this moment whatever is
/// recorded meanwhile.
[[nodiscard]] expected<opened_run> open_stored_run(const std::string& name);

/// The state that the records of a run add up to.
struct folded_run {
  clade::experiment experiment; ///< The resolved one, of the latest fork.
  genome_hash search;           ///< `search_hash` of that and its data.
  run_state state;
};

/// `origin` is named where an experiment in the store cannot be read.
[[nodiscard]] expected<folded_run> fold_run(const store& file, const std::string& origin);

/// How a run with this experiment decides. One that trains needs its data: they say what
/// networks must fit.
[[nodiscard]] expected<replay_rules> replay_rules_of(const experiment& e);

/// Returns the fault of a store that holds no record, and the remedy: of a run that had
/// begun, its log (run.db-wal) is missing.
[[nodiscard]] error nothing_recorded(const std::filesystem::path& store_file);

} // namespace clade
