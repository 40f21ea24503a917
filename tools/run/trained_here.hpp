#pragma once

#include "actors/node/node_work.hpp"
#include "engine/evaluation/evaluating.hpp"
#include "tools/machine/slots.hpp"
#include "tools/run/new_run.hpp"

#include <memory>

namespace clade {

/// An experiment whose candidates are trained in this process, one at a time, and not in
/// node processes: what crashes there, ends the command here.
struct trained_here {
  checked_experiment checked;
  std::shared_ptr<node_work> work;
  evaluating by; ///< Uses `work`.
};

struct trained_here_params {
  std::filesystem::path file; ///< The experiment.
  std::vector<std::string> overrides;
  std::string slots; ///< Empty: the experiment's. The first of them is taken.
};

/// Checks the experiment, gives this process the slot's environment, and loads and warms
/// up what trains. Blocks for seconds.
[[nodiscard]] expected<trained_here> train_here(const trained_here_params& params);

} // namespace clade
