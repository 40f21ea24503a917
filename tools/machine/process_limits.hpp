#pragma once

#include "genome/base/error.hpp"

namespace clade {

/// Refuses to be a head with fewer descriptors or less address space than one needs
/// (`ulimit -n`, `ulimit -v`), since the libraries below end the process where they miss
/// any.
[[nodiscard]] expected<void> check_process_limits();

} // namespace clade
