#pragma once

#include "genome/base/error.hpp"

#include <sys/types.h>

#include <filesystem>
#include <optional>

namespace clade {

/// Says that this process writes a store: a lock on the file beside it ("run.db.lock"),
/// which ends with the process however that ends. The file holds the process id and
/// stays.
class run_lock {
public:
  /// `conflict` if a running process holds it, named by its id, or the store has a second
  /// name (`check_one_name`).
  [[nodiscard]] static expected<run_lock> take(const std::filesystem::path& store_file);

  run_lock(run_lock&& other) noexcept
      : descriptor_(std::exchange(other.descriptor_, -1)) {}
  run_lock& operator=(run_lock&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~run_lock();

private:
  explicit run_lock(int descriptor) : descriptor_(descriptor) {}

  int descriptor_ = -1;
};

/// The process that writes this store now, if any; 0 if there is one but it did not say
/// which. Disturbs nobody.
[[nodiscard]] std::optional<pid_t> writer_of(const std::filesystem::path& store_file);

/// The file that is locked: beside the store itself, by whatever links that was reached;
/// SQLite's own files are there too.
[[nodiscard]] std::filesystem::path lock_file_of(const std::filesystem::path& store_file);

} // namespace clade
