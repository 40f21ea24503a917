#pragma once

#include "tools/cli/base/command.hpp"

namespace clade {

/// `clade bench attach`.
void add_bench_attach(CLI::App& bench, command& chosen);

} // namespace clade
