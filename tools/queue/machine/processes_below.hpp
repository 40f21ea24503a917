#pragma once

#include "tools/queue/machine/node_report.hpp"

#include <sys/types.h>

namespace clade {

/// The number of processes of an entry that are shown.
inline constexpr std::size_t most_processes = 256;

/// The numbers of all processes of this machine that are below one, without itself, as
/// /proc has them now.
[[nodiscard]] std::vector<pid_t> numbers_below(pid_t root);

/// The processes of this machine that are below one, without itself, as /proc has them
/// now; at most so many, those with the lowest numbers.
[[nodiscard]] std::vector<process_seen>
processes_below(pid_t root, std::size_t most = most_processes);

} // namespace clade
