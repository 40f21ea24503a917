#pragma once

#include "genome/base/random.hpp"

#include <cstdint>
#include <vector>

namespace clade {

/// Returns 0 .. count - 1 in an order drawn from `random`. If there are more than
/// `window`, each run of `window` places holds what lies near each other: the numbers are
/// cut into pieces, which come in an order that is drawn, and those of a run are shuffled
/// among each other. So whoever reads examples in this order has to hold a window of them
/// alone. If all fit into one window, any order is as likely as another.
[[nodiscard]] std::vector<std::int64_t> shuffled(std::size_t count, std::size_t window,
                                                 random_stream& random);

} // namespace clade
