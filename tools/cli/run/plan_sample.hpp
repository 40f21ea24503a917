#pragma once

#include "tools/machine/slots.hpp"
#include "tools/run/new_run.hpp"

#include <chrono>
#include <vector>

namespace clade {

/// One network of generation 0.
struct sampled {
  candidate made;
  std::uint64_t parameters = 0;
  std::uint64_t peak_bytes = 0; ///< The memory of all its slots.
  std::uint64_t devices = 1;    ///< Slots that its training takes.
};

/// The measurements of training one epoch of some of them, with as many of the examples
/// as tell how long all of them take.
struct trial_step {
  double seconds_per_work = 0;
  std::uint64_t process_bytes =
      0; ///< The bytes of a process that trains, data and LibTorch included.
  std::size_t networks = 0;
  std::uint64_t examples = 0; ///< The number of examples in the data that were used.
};

/// Returns how many examples a trial takes of so many: a few thousand, or all.
[[nodiscard]] std::uint64_t examples_of_trial(std::uint64_t all);

/// 200 networks as the run's generation 0 would have them, by rising work.
[[nodiscard]] expected<std::vector<sampled>>
sample_networks(const checked_experiment& checked);

/// A sentence where fewer candidates are in training at once than there are slots, and
/// what to raise; else empty.
[[nodiscard]] std::string idle_slots_line(const experiment& e, std::uint64_t open,
                                          std::size_t slots);

/// Trains the networks at the quartiles for one epoch each, in this process, whose
/// environment it sets to the slot's; as many of them as `most` leaves time for, 0 being
/// all, and a part of an epoch of the first. Blocks for seconds.
[[nodiscard]] expected<trial_step> measure(const checked_experiment& checked,
                                           const slot& s,
                                           const std::vector<sampled>& networks,
                                           std::chrono::milliseconds most);

} // namespace clade
