#pragma once

#include "tools/run/session.hpp"

namespace clade {

/// How a person or a program is told of a session.
struct shown_session {
  std::filesystem::path file = {}; ///< The experiment's; empty where it is resumed.
  std::string note = {};           ///< Said with the run's name; empty: nothing.
  bool json = false;               ///< One object a line.
};

/// Prints what comes before anything happens: with `json` the object that names the run
/// and its folder, then what a person should know of it.
void say_run(const session_params& session, const shown_session& shown);

/// Says from its store how a run stands: the champion, or how to go on. Returns the exit
/// status, 0 where all was said.
[[nodiscard]] int summarise(const session_params& session, const shown_session& shown);

/// Runs a session, with both of these around it and its progress between, until its end
/// or until an interrupt (interrupts.hpp) has let it drain. Returns the exit status: 0,
/// 130 after an interrupt, 1 or 2 after an error.
[[nodiscard]] int show_session(session_params session, const shown_session& shown,
                               store file, run_state state);

} // namespace clade
