#pragma once

#include "tools/session.hpp"

namespace clade {

/// Says how a session ended, from its store: the champion, or how to go on. Returns the
/// exit status.
int summarise(const session_params& session, const session_result& result);

} // namespace clade
