#pragma once

#include "tools/cli/base/command.hpp"

namespace clade {

/// `clade bench step`.
void add_bench_step(CLI::App& bench, command& chosen);

} // namespace clade
