#pragma once

#include "tools/run/session.hpp"

namespace clade {

/// Prints what comes before anything happens: with `--json` the object that names the run
/// and its folder, then what a person should know of it. Call it before `run_session`.
void say_run(const session_params& session);

/// Says how a session ended, from its store: the champion, or how to go on. Returns the
/// exit status.
int summarise(const session_params& session, const session_result& result);

} // namespace clade
