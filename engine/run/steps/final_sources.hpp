#pragma once

#include "engine/run/state/run_state.hpp"

namespace clade {

/// Returns the genomes of which a run's end is planned: its best, the best first. The seeds
/// of the space were proven in long trainings: where a seed was trained for fewer epochs
/// than tell how fast it learns, it is expected to learn faster than others.
[[nodiscard]] std::vector<individual> final_sources(const run_state& run);

} // namespace clade
