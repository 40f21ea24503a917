#pragma once

#include "genome/base/error.hpp"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace clade {

struct queue_worker_options {
  std::filesystem::path queue;  ///< The folder that a worker was given.
  std::filesystem::path folder; ///< Of logs and runs; empty: QUEUE/machines/NAME.
  std::string slots, name;
  std::chrono::milliseconds grace;
  std::uint64_t log_bytes;                       ///< What a log may take of the disk.
  std::optional<std::chrono::milliseconds> idle; ///< As `queue_node_params`.
};

/// Runs what is in the queue on this machine's slots, until a signal.
[[nodiscard]] expected<void> work_for_queue(queue_worker_options options);

} // namespace clade
