#pragma once

#include <cstdint>
#include <string>

namespace clade {

/// Milliseconds since 1970 by this machine's clock, which people may set.
[[nodiscard]] std::int64_t unix_ms();

/// Such a time as names of files have it, of this place: "20260131-140500".
[[nodiscard]] std::string time_stamp(std::int64_t unix_ms);

} // namespace clade
