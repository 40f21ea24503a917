#pragma once

#include "tools/cli/base/command.hpp"

namespace clade {

/// `clade bench fleet`.
void add_bench_fleet(CLI::App& bench, command& chosen);

} // namespace clade
