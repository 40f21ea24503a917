#pragma once

#include "engine/store/connection.hpp"
#include "engine/store/run_lock.hpp"
#include "engine/store/store.hpp"
#include "engine/store/tables.hpp"

#include <memory>
#include <optional>
#include <set>
#include <string_view>

namespace clade {

/// What a store consists of; for the files of this folder alone.
struct store::impl {
  explicit impl(connection c) : connected(std::move(c)) {}

  std::optional<run_lock> lock; ///< Writers have it, until the file is closed.
  connection connected;

  /// Writers only.
  struct writer {
    explicit writer(connection& c);

    tables queried;
    SQLite::Statement begin, commit, rollback, insert_record, last_record, delete_weights,
        weights_ids;
    /// Whether what is below, and what `queried` counts, is what is on the disk.
    bool loaded = false;
    std::uint64_t sequence = 0;
    std::uint64_t checksum = 0;
    std::set<candidate_id> with_weights;

    void load();
  };
  std::unique_ptr<writer> writes;

  std::uint64_t size = 0;

  /// Finds the record whose sequence the query (one column, one id to bind) gives,
  /// checked against its checksum.
  [[nodiscard]] expected<record> find_record(const char* query, candidate_id id) const;
};

/// The checksum of a record, given that of its predecessor, 0 for the first.
[[nodiscard]] std::uint64_t chained_checksum(std::uint64_t predecessor,
                                             std::uint64_t sequence, std::int64_t unix_ms,
                                             std::int64_t kind,
                                             std::span<const char> payload);

/// Of its name in the tables.
[[nodiscard]] std::optional<outcome> parse_outcome(std::string_view text);

} // namespace clade
