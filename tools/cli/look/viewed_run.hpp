#pragma once

#include "tools/cli/look/watched_run.hpp"
#include "tools/views/web/web_hooks.hpp"

namespace clade {

/// What a page of this run can do: all of `web_hooks` where the run's folder is on this
/// machine, and only to give orders where it is not. What it needs of the data is read
/// when it is first asked for.
[[nodiscard]] web_hooks hooks_of(const watched_run& run);

} // namespace clade
