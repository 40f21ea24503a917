#pragma once

#include <functional>

namespace clade {

/// From now on Ctrl+C, SIGTERM, and SIGHUP unless it is ignored ask to end. Returns
/// whether one of them came since. A second Ctrl+C or SIGTERM ends the process at once
/// with status 130; SIGHUP never does, as a terminal that goes away may say so often.
[[nodiscard]] std::function<bool()> watch_interrupts();

/// Returns whether SIGTERM was among them: whoever sends it waits for some seconds only.
[[nodiscard]] bool was_terminated();

/// From now on they come to this thread, and to those that it starts, only while it waits
/// with no signal blocked (ppoll): so none is missed.
void block_interrupts();

/// The same for a command that has something to do at the second Ctrl+C or SIGTERM too:
/// the third ends the process.
struct interrupt_watch {
  std::function<bool()> asked, hurried;
};
[[nodiscard]] interrupt_watch watch_two_interrupts();

} // namespace clade
