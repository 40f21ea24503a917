#pragma once

#include "engine/search/core/candidate.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace clade {

/// From one share of a run's time to another its machine is so many times slower.
struct slow_phase {
  double from = 0, until = 1;
  double factor = 1;
};

/// A made-up machine, and networks that learn on it as nobody trained them: how fast, how far,
/// and how long an epoch takes is drawn for each by its hash. Curves cross: what learns fast
/// may end badly.
struct made_up_world {
  std::uint64_t seed = 1;
  std::size_t slots = 2;
  double seconds = 600; ///< The run's time.
  double epoch_seconds =
      1; ///< An ordinary network takes so many, where nothing else is at work.
  double spread = 0.7;     ///< The deviation of the logarithm of that between networks.
  double diverging = 0.05; ///< The share of networks whose training fails.
  std::vector<slow_phase> slow{};
};

/// The other things that a machine does.
enum class machine_kind : std::uint8_t {
  quiet,  ///< Nothing.
  slower, ///< From some time on it is slower, up to ten times, to the end or for a while.
  stops   ///< The same, and for up to a tenth of the time it stands still.
};

/// Draws a world: from 1 to 16 slots, from 30 seconds to an hour, epochs from a
/// three-thousandth of that to a quarter, and up to a third of the networks diverge.
[[nodiscard]] made_up_world drawn_world(std::uint64_t seed, machine_kind kind);

/// How a network learns in a made-up world.
struct made_up_network {
  double floor = 0; ///< The error that no training gets below.
  double start = 1; ///< The error before any.
  double unit = 1;  ///< Epochs after which it begins to fall as a power of time.
  double exponent = 0.5;
  double epoch_seconds = 1;
  bool diverges = false;
};

[[nodiscard]] made_up_network network_of(const made_up_world& w, genome_hash network);

/// Returns the error after so many epochs, or parts of one, of a schedule of rates that has
/// come so far, from 0 to 1: what is cut in the middle of its schedule is worse than what
/// came to its end.
[[nodiscard]] double error_after(const made_up_network& n, double epochs,
                                 double progress);

/// Returns when work that is begun at `from` ends that takes so many seconds where nothing
/// else is at work; and how much of it is done between two times.
[[nodiscard]] double end_of_work(const made_up_world& w, double from, double seconds);
[[nodiscard]] double work_done(const made_up_world& w, double from, double until);

} // namespace clade
