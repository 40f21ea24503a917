#pragma once

#include "engine/queue/queue_state.hpp"

#include <filesystem>
#include <functional>
#include <memory>
#include <span>

namespace clade {

/// In a queue's folder.
inline constexpr const char* queue_file_name = "queue.db";

/// The store of a queue: one SQLite file (WAL, synchronous=FULL) with the queue's events
/// in their order, each with a checksum that is chained over its predecessor's. One process
/// has it open (a lock file says which). Every call blocks on the disk. One thread at a
/// time.
class queue_store {
public:
  queue_store(queue_store&&) noexcept;
  queue_store& operator=(queue_store&&) noexcept;
  ~queue_store();

  /// Opens the file, which is made where there is none, and takes its lock. `conflict`: a
  /// running process holds it, or a newer version made it. `corrupt`: it is no queue.
  [[nodiscard]] static expected<queue_store> open(const std::filesystem::path& file);

  /// One transaction: when it returns, all are on the disk, or none. Returns the time of
  /// all of them, milliseconds since 1970.
  [[nodiscard]] expected<std::int64_t> append(std::span<const queue_event> events);

  /// The fold of all that is stored. `corrupt` names the first event that is not whole, or
  /// does not fit those before it.
  [[nodiscard]] expected<queue_state> load(std::chrono::seconds half_life);

  /// How many events are stored, as of `load` and each `append` since.
  [[nodiscard]] std::uint64_t size() const;

  inline static constexpr int schema_version = 1;

private:
  struct impl;
  explicit queue_store(std::unique_ptr<impl> i);
  std::unique_ptr<impl> impl_;
};

} // namespace clade
