#pragma once

#include "tools/command.hpp"

namespace clade {

/// `clade evaluate`.
void add_evaluate(CLI::App& app, command& chosen);

} // namespace clade
