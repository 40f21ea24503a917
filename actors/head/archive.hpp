#pragma once

#include "actors/messages/protocol.hpp"
#include "engine/store/sqlite/blob_folder.hpp"

#include <memory>

namespace clade {

struct archive_state {
  std::shared_ptr<store> file;
  std::optional<blob_folder> checkpoints;

  expected<store::place> write(const append& a);
  expected<lineage> trace(candidate_id id) const;
};

/// Spawn it detached: every message blocks on the disk. Checkpoints lie in that folder;
/// without one none may come.
archive_actor::behavior_type
archive_behavior(archive_actor::stateful_pointer<archive_state> self,
                 std::shared_ptr<store> file,
                 const std::filesystem::path& checkpoints_folder);

} // namespace clade
