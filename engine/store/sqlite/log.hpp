#pragma once

#include "genome/base/error.hpp"

#include <cstdint>
#include <filesystem>

namespace clade {

/// The condition in which SQLite finds the log ("-wal") beside a store.
struct log_condition {
  /// Transactions that are whole, and those behind the first frame that does not match
  /// its checksum, which SQLite leaves out.
  std::uint64_t whole = 0, left_out = 0;
  /// From 1; 0: the header's checksum is wrong.
  std::uint64_t first_bad_frame = 0;

  /// A power cut may spoil the one transaction that was not synced; more is damage.
  [[nodiscard]] bool damaged() const { return left_out > 1; }
};

/// Reads the log of a store that nobody writes; all zero if it has none.
[[nodiscard]] expected<log_condition>
examine_log(const std::filesystem::path& store_file);

} // namespace clade
