#pragma once

#include "tools/cli/base/command.hpp"

namespace clade {

/// `clade bench search`.
void add_bench_search(CLI::App& bench, command& chosen);

} // namespace clade
