#pragma once

#include "engine/run/state/run_state.hpp"

namespace clade {

// The work that a search would do, found by running it without training: each network
// draws its fitness by its hash, and keeps it at every rung. Both fail as breeding does.

/// For how many epochs it trains in all, what goes on from a checkpoint counted for what
/// it adds. How many are promoted depends on the rungs, and hardly on fitness. `epochs`:
/// of a full training. Without rungs it knows by multiplying; with them it takes as long
/// as the strategy does.
[[nodiscard]] expected<std::uint64_t>
planned_epochs(const run_rules& rules, const problem& problem, std::uint32_t epochs);

/// How many candidates are in training at once as it begins, if there are slots for so
/// many; `slots` where it is more.
[[nodiscard]] expected<std::uint64_t>
open_at_once(const run_rules& rules, const problem& problem, std::uint64_t slots);

} // namespace clade
