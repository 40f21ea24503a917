#pragma once

#include "actors/protocol.hpp"

#include <memory>

namespace clade {

struct archive_state {
  std::shared_ptr<store> file;
};

/// Spawn it detached: every message blocks on the disk.
archive_actor::behavior_type
archive_behavior(archive_actor::stateful_pointer<archive_state> self,
                 std::shared_ptr<store> file);

} // namespace clade
