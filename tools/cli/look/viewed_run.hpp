#pragma once

#include "tools/cli/look/watched_run.hpp"
#include "tools/views/web/web_hooks.hpp"

namespace clade {

/// Returns the actions of a page of this run: all of `web_hooks` if the run's folder is
/// on this machine, and only to give orders if it is not. The data that it needs are read
/// when they are first asked for.
[[nodiscard]] web_hooks hooks_of(const watched_run& run);

} // namespace clade
