#pragma once

#include "genome/variation/rewiring.hpp"

namespace clade {

// Changes of settings; the graph stays. The genome obeys its grammar before and, but for
// settings that depend on the changed one, which `repair` mends, afterwards.

/// Gives a random node another operator, drawn by weight; settings of the same name stay
/// where they fit.
[[nodiscard]] std::optional<change> change_operator(const grammar& rules, genome& g,
                                                    random_stream& random);

/// One step up in a random one of the parameters marked as widths.
[[nodiscard]] std::optional<change> widen(const grammar& rules, genome& g,
                                          random_stream& random);

/// One step down.
[[nodiscard]] std::optional<change> narrow(const grammar& rules, genome& g,
                                           random_stream& random);

/// Moves a random setting of a random node, merges included.
[[nodiscard]] std::optional<change> change_setting(const grammar& rules, genome& g,
                                                   random_stream& random);

/// Moves a random hyperparameter, and repairs those that depend on it.
[[nodiscard]] std::optional<change> change_hyperparameter(const grammar& rules, genome& g,
                                                          random_stream& random);

} // namespace clade
