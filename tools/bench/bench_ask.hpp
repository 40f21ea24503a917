#pragma once

#include "tools/cli/base/command.hpp"

namespace clade {

/// `clade bench ask`.
void add_bench_ask(CLI::App& bench, command& chosen);

} // namespace clade
