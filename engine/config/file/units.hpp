#pragma once

#include "genome/base/error.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace clade {

/// "2min", "1h30min", "1.5h", "250ms": numbers with the units us, ms, s, min, h and d. An
/// error says what was read and gives an example.
[[nodiscard]] expected<std::chrono::microseconds> parse_duration(std::string_view text);

/// "2GiB", "512MiB", "1.5GB": one number with the unit B, kB, MB, GB, TB, KiB, MiB, GiB
/// or TiB.
[[nodiscard]] expected<std::uint64_t> parse_size(std::string_view text);

/// Exact, in the largest unit that divides it, such that it parses to the same.
[[nodiscard]] std::string duration_literal(std::chrono::microseconds d);
[[nodiscard]] std::string size_literal(std::uint64_t bytes);

} // namespace clade
