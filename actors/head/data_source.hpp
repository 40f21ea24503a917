#pragma once

#include "actors/messages/protocol.hpp"
#include "engine/data/reading/data_set.hpp"

#include <vector>

namespace clade {

/// Names the data files with size and checksum. Reads them all; errors name the file.
[[nodiscard]] expected<std::vector<data_file>> data_files(const data_params& data);

struct data_source_state {
  std::vector<data_file> files;

  /// A piece of one of the files, and of no other.
  [[nodiscard]] chunk read(const fetch_chunk& request) const;
};

/// Adds a piece to its upload. A piece that is there already, which a second connection of
/// a node may send, changes nothing.
[[nodiscard]] piece_written write(const write_piece& request);

/// Spawn it detached: it reads and writes files.
data_source_actor::behavior_type
data_source_behavior(data_source_actor::stateful_pointer<data_source_state> self,
                     std::vector<data_file> files);

} // namespace clade
