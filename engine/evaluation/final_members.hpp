#pragma once

#include "engine/evaluation/composition.hpp"
#include "engine/run/state/run_state.hpp"

#include <vector>

namespace clade {

/// Returns all models of a run that has a champion, without their weights, for the final
/// model to be put together from. Their order does not depend on which was ready first,
/// since answers of folds are added up. The champion comes first, unless it is one fold of
/// several.
[[nodiscard]] std::vector<trained_member> members_of(const run_state& run);

/// Brings the examinations at the end of a run into their order, which does not depend on
/// which came first. If the champion is the final model (`composed`), its examination is
/// added as that of the final model.
[[nodiscard]] std::vector<examination> complete_examinations(std::vector<examination> all,
                                                             const composition* composed);

} // namespace clade
