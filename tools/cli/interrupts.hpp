#pragma once

#include <functional>

namespace clade {

/// From now on Ctrl+C, SIGTERM, and SIGHUP unless it is ignored ask to end. Returns
/// whether one of them came since. A second Ctrl+C or SIGTERM ends the process at once
/// with status 130; SIGHUP never does, as a terminal that goes away may say so often.
[[nodiscard]] std::function<bool()> watch_interrupts();

} // namespace clade
