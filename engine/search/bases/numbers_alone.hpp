#pragma once

#include "search_spaces/operators/search_space.hpp"

namespace clade {

// The demands that strategies that move numbers alone make on a space.

/// Says that the strategy `name` cannot search the space, because of `why`, and that
/// `others` can.
[[nodiscard]] tl::unexpected<error> cannot_serve(const search_space& space,
                                                 const char* name, const std::string& why,
                                                 const char* others);

/// Fails where the space has layers, or no hyperparameter that varies.
[[nodiscard]] expected<void> check_numbers_alone(const search_space& space,
                                                 const char* name);

} // namespace clade
