#pragma once

#include "actors/messages/protocol.hpp"
#include "engine/data/reading/data_set.hpp"

#include <vector>

namespace clade {

/// Makes the data files that a head names be on this machine: one that lies at the path
/// the experiment names, or was fetched before, is used if its checksum is right; else it
/// is fetched through `node`, in pieces, into the user's cache (`data_cache`), going on
/// where an earlier attempt ended. `data` then names where they are. Several processes of
/// a machine fetch a file once. Blocks; waits while the node has no connection.
[[nodiscard]] expected<void> have_data(caf::actor_system& system, const node_actor& node,
                                       const std::vector<data_file>& files,
                                       data_params& data);

} // namespace clade
