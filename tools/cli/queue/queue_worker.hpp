#pragma once

#include "genome/base/error.hpp"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace clade {

struct queue_worker_options {
  std::filesystem::path queue; ///< The folder that a worker was given.
  /// The folder of logs and runs; empty: QUEUE/machines/NAME.
  std::filesystem::path folder;
  std::string slots, name;
  std::chrono::milliseconds grace;
  /// The space that a log may take of the disk.
  std::uint64_t log_bytes;
  std::optional<std::chrono::milliseconds> idle; ///< The time, as in `queue_node_params`.
};

/// Runs what is in the queue on this machine's slots, until a signal.
[[nodiscard]] expected<void> work_for_queue(queue_worker_options options);

} // namespace clade
