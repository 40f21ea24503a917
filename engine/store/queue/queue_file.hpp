#pragma once

#include "engine/store/sqlite/byte_locks.hpp"
#include "engine/store/sqlite/connection.hpp"

namespace clade {

/// In a queue's folder.
inline constexpr const char* queue_file_name = "queue.db";

/// How a queue's file is opened.
struct queue_file_params {
  std::filesystem::path file;
  /// Several machines have the file system. SQLite's log in memory that processes share
  /// (WAL) does not work between machines, so a journal is used instead.
  bool shared = false;
};

/// The lock that who makes or changes files of the queue's folder has meanwhile.
inline constexpr std::uint64_t folder_lock = 0;
inline constexpr std::chrono::seconds folder_lock_patience{10};

/// Opens the file, which is made where there is none, with this version's tables.
/// `conflict`: a newer version made it, or a server of an older one is at it. `corrupt`:
/// it is no queue. Throws SQLite::Exception.
[[nodiscard]] expected<connection> open_queue_file(const queue_file_params& params,
                                                   byte_locks& locks);

/// Whether it was opened once as `shared`. Throws SQLite::Exception.
[[nodiscard]] bool is_journaled(const connection& c);

/// Returns the advice to give a person about an error of that file.
[[nodiscard]] store_advice queue_advice(const std::filesystem::path& file);

/// Whether the folder's file system is one that other machines have too, such as NFS.
[[nodiscard]] bool is_on_network(const std::filesystem::path& folder);

} // namespace clade
