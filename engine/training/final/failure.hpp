#pragma once

#include "engine/search/core/candidate.hpp"

#include <string>

namespace clade {

/// Says how a candidate failed.
struct failure {
  clade::outcome outcome = outcome::invalid;
  std::string reason;
  bool of_machine = false; ///< It is no candidate's fault.
};

/// For `catch (...)`: returns what the exception under way says about the candidate, or
/// about the machine, whose operating system refused something. A failure of the
/// accelerator itself ends the process instead: its context is of no more use to any
/// candidate, and the supervisor starts a new process.
[[nodiscard]] failure failure_of_exception();

} // namespace clade
