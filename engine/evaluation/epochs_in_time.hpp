#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace clade {

/// The reason of an evaluation for which limits.evaluation_time had room for fewer epochs
/// than it was to have, its rates following the clock.
[[nodiscard]] std::string had_room_for(double had, std::uint32_t epochs);

/// The reason of one that was cut: `where` is "after epoch 2" or "in epoch 3".
[[nodiscard]] std::string cut_by_time(std::string_view where, std::uint32_t epochs);

/// Returns what such a reason says: "1.2 of 180", "2 of 180"; empty of another reason.
[[nodiscard]] std::string epochs_in_time(std::string_view reason);

} // namespace clade
