#pragma once

#include "actors/messages/protocol.hpp"
#include "engine/data/folders/folder_bundle.hpp"
#include "engine/data/reading/data_set.hpp"

#include <map>
#include <string>
#include <vector>

namespace clade {

/// The data of an experiment, as it is sent to other machines.
struct sent_data {
  std::vector<data_file> files;
  std::map<std::string, folder_bundle> bundles; ///< By the path of a folder.
};

/// Names the data files with size and checksum. Reads them all; errors name the file. The
/// images that a table names are left out if they do not all lie below one folder.
[[nodiscard]] expected<sent_data> data_to_send(const data_params& data);

struct data_source_state {
  sent_data data;

  /// A piece of one of the files, and of no other.
  [[nodiscard]] chunk read(const fetch_chunk& request) const;
};

/// Adds a piece to its upload. A piece that is there already, which a second connection of
/// a node may send, changes nothing.
[[nodiscard]] piece_written write(const write_piece& request);

/// Spawn it detached: it reads and writes files.
data_source_actor::behavior_type
data_source_behavior(data_source_actor::stateful_pointer<data_source_state> self,
                     sent_data data);

} // namespace clade
