#pragma once

#include "engine/search/core/candidate.hpp"
#include "engine/search/core/evolution_params.hpp"
#include "search_spaces/operators/search_space.hpp"

namespace clade {

/// Judges what every strategy reads, and what the strategy named reads alone.
[[nodiscard]] expected<void> validate(const evolution_params& params);

/// Gives a strategy of several fidelities rungs and reduction, where it was not told any:
/// of a full training's epochs one of `reduction` or 3, of those one, and so on down to
/// 1; for those that look in at even distances, five, or one a generation; then
/// `reduction_by` these. Fails where rungs do not rise to just that number of epochs,
/// where there is but one, and where another strategy is given rungs.
[[nodiscard]] expected<void> complete_rungs(evolution_params& params,
                                            std::uint32_t epochs,
                                            std::vector<std::uint32_t> fidelities = {});

/// Whether the strategy of that name can search that space, whatever else it is told. The
/// error says which can.
[[nodiscard]] expected<void> check_space(const std::string& strategy,
                                         const search_space& space);

/// Whether the strategy can search that space: one that moves numbers alone cannot choose
/// among operators; and for that objective: few weigh several against each other. The
/// error says which can.
[[nodiscard]] expected<void> check_strategy(const evolution_params& params,
                                            const search_space& space,
                                            const objective& goal = {});

} // namespace clade
