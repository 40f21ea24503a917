#pragma once

#include "genome/base/error.hpp"
#include "genome/base/unique_fd.hpp"

#include <chrono>
#include <cstdint>
#include <filesystem>

namespace clade {

/// Locks by number in the file beside a store ("queue.db.lock"), between processes of one
/// machine; each ends with the process that has it, however that ends. Between machines
/// they hold where the file system carries them (NFS 4 does). A `run_lock` of the same
/// store is all of them at once.
class byte_locks {
public:
  [[nodiscard]] static expected<byte_locks> open(const std::filesystem::path& store_file);

  /// Returns whether it is ours now.
  [[nodiscard]] bool try_lock(std::uint64_t number);
  /// Blocks until it is ours. `conflict`: it is not after that time.
  [[nodiscard]] expected<void> lock(std::uint64_t number, std::chrono::milliseconds most);
  void unlock(std::uint64_t number);
  /// Whether another process has it. Disturbs nobody.
  [[nodiscard]] bool is_others(std::uint64_t number) const;

private:
  byte_locks(std::filesystem::path file, unique_fd descriptor)
      : file_(std::move(file)),
        descriptor_(std::move(descriptor)) {}

  std::filesystem::path file_;
  unique_fd descriptor_;
};

} // namespace clade
