#pragma once

#include "engine/search/core/strategy.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace clade {

/// One row in a table for each algorithm. Fails if the
/// parameters are not valid. `space`: for those that look into a genome; of a run it is
/// always there.
[[nodiscard]] expected<std::unique_ptr<strategy>>
make_strategy(const evolution_params& params, std::uint64_t seed,
              std::shared_ptr<const search_space> space = {});
[[nodiscard]] std::vector<std::string> strategy_names();

/// Whether candidates may start from the trainings of others, which therefore leave
/// checkpoints.
[[nodiscard]] bool starts_from_others(const evolution_params& params);

/// Whether the strategy of that name (one of the table's) can search that space, whatever
/// else it is told. The error says which can.
[[nodiscard]] expected<void> check_space(const std::string& strategy,
                                         const search_space& space);

/// Whether that strategy can search that space: one that moves numbers alone cannot
/// choose among operators; and for that objective: few weigh several against each other.
/// The error says which can.
[[nodiscard]] expected<void> check_strategy(const evolution_params& params,
                                            const search_space& space,
                                            const objective& goal = {});

[[nodiscard]] expected<void> validate(const evolution_params& params);

/// Gives a strategy of several fidelities rungs and reduction, where it was not told any:
/// of a full training's epochs one of `reduction` or 3, of those one, and so on down to
/// 1; for those that look in at even distances, five, or one a generation; then
/// `reduction_by` these. Fails where rungs do not rise to just that number of epochs,
/// where there is but one, and where another strategy is given rungs.
[[nodiscard]] expected<void> complete_rungs(evolution_params& params,
                                            std::uint32_t epochs,
                                            std::vector<std::uint32_t> fidelities = {});

/// What a strategy is called in an experiment file, and when to take it.
struct strategy_advice {
  std::string_view name;
  std::string_view sentence;
};

/// Every strategy that an experiment file may name, "auto" first.
[[nodiscard]] std::span<const strategy_advice> strategies_with_advice();

} // namespace clade
