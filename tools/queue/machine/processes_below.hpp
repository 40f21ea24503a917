#pragma once

#include "tools/queue/machine/node_report.hpp"

#include <sys/types.h>

namespace clade {

/// The numbers of all processes of this machine that are below one, without itself, as
/// /proc has them now.
[[nodiscard]] std::vector<pid_t> numbers_below(pid_t root);

/// The processes of this machine that are below one, without itself, as /proc has them
/// now; at most 256, those with the lowest numbers.
[[nodiscard]] std::vector<process_seen> processes_below(pid_t root);

} // namespace clade
