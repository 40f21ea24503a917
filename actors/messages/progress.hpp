#pragma once

#include "engine/run/state/run_state.hpp"
#include "engine/telemetry/picture/slots.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace clade {

/// How a run stands; generations from the one asked for on.
struct run_progress {
  std::uint64_t generation = 0;
  std::uint64_t born = 0, evaluated = 0, failed = 0;
  std::string failures; ///< `run_state::failures` in words; empty: none.
  double training_seconds = 0;
  std::optional<individual> best;
  std::vector<generation_summary> generations;
  /// The plan of the trainings at the end, once it is made, and how many of them are not
  /// done.
  std::optional<final_planned> plan;
  std::size_t plan_open = 0;
  std::optional<run_finished> finished;
  bool stopping = false;
  bool over = false;            ///< Finished, paused or failed; everything is recorded.
  std::optional<error> failure; ///< Set: the run is over because of it.
};

} // namespace clade
