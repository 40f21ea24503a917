#pragma once

#include "tools/cli/base/command.hpp"

namespace clade {

/// `clade bench strategies`.
void add_bench_strategies(CLI::App& bench, command& chosen);

} // namespace clade
