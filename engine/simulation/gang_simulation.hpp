#pragma once

#include <cstddef>
#include <cstdint>

namespace clade {

/// Tasks that need from one to many slots, all there at the beginning. How many slots, and
/// how long a task takes, are drawn; large ones are as rare as they are large.
struct gang_mix {
  std::size_t slots = 1'000;
  std::size_t slots_of_machine = 64; ///< The last machine may have fewer.
  std::size_t tasks = 5'000;
  std::uint32_t largest = 64; ///< At most the slots of a machine.
  /// The deviation of the logarithm of how long a task takes beside what was expected of
  /// it.
  double surprise = 0.1;
  std::uint64_t seed = 1;
};

struct gang_figures {
  double busy = 0; ///< Share of all slots' time, until the last task has begun.
  /// Gangs that would have waited for at least a second, a task taking a minute in the
  /// mean, when they were next in the queue, had nothing begun meanwhile; and how long they
  /// waited, as a multiple of that.
  std::size_t waited = 0;
  double mean_wait = 0, longest_wait = 0;
};

/// Returns the figures of `schedule` for the mix, in simulated time.
[[nodiscard]] gang_figures simulate_gangs(const gang_mix& mix);

} // namespace clade
