#pragma once

#include "engine/collectives/links.hpp"

#include <memory>
#include <string>

namespace clade {

/// Returns links that carry what members send over Gloo, which neither encrypts nor asks
/// who connects. All members of `met` call it at once, each with an address of its own
/// machine, which is all that it listens on. Blocks until all are connected.
///
/// The members tell each other where they listen over `met`, which is kept and not used
/// for anything else after that: when it breaks, so do the links, within a moment. They
/// also break when Gloo loses a member. Throws `team_broken` where either happens before
/// all are connected.
[[nodiscard]] std::unique_ptr<links> make_gloo_links(std::unique_ptr<links> met,
                                                     const std::string& address);

} // namespace clade
