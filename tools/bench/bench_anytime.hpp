#pragma once

#include "tools/cli/base/command.hpp"

namespace clade {

/// `clade bench anytime`.
void add_bench_anytime(CLI::App& bench, command& chosen);

} // namespace clade
