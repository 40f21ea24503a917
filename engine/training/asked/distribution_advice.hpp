#pragma once

#include "engine/training/asked/distribution.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace clade {

/// Returns the name of the distribution that others call by this one: "ddp", "FSDP",
/// "tf.distribute.MirroredStrategy". Empty: none is known by it.
[[nodiscard]] std::string_view known_elsewhere_as(std::string_view name);

/// Returns what to tell a person whose distribution takes one of so many slots because
/// `devices` is not given; empty: nothing.
[[nodiscard]] std::string note_on_devices(const distribution_params& params,
                                          std::size_t slots);

/// Returns what to tell a person whose copies are averaged too seldom in an epoch of so
/// many steps (local_sgd), and what to set; empty: nothing.
[[nodiscard]] std::string note_on_averages(const distribution_params& params,
                                           std::uint64_t steps);

} // namespace clade
