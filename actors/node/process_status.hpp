#pragma once

#include <cstdint>
#include <string>

namespace clade {

/// Returns the number that /proc/self/status gives for this process's memory by that name
/// ("VmRSS"), in bytes; 0 if it has none.
[[nodiscard]] std::uint64_t status_bytes(const std::string& name);

} // namespace clade
