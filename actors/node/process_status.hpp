#pragma once

#include <cstdint>
#include <string>

namespace clade {

/// What /proc/self/status says of this process's memory by that name ("VmRSS"), in bytes;
/// 0 where it says nothing.
[[nodiscard]] std::uint64_t status_bytes(const std::string& name);

} // namespace clade
