#pragma once

#include "engine/store/repair/check.hpp"
#include "engine/store/run/tables.hpp"
#include "engine/store/sqlite/connection.hpp"

namespace clade {

/// A row of `records`; the payload is valid until the reader moves on.
struct stored_record {
  std::uint64_t sequence = 0;
  std::int64_t unix_ms = 0;
  std::int64_t kind = 0;
  std::span<const char> payload;
  std::uint64_t checksum = 0;
};

/// A fresh store that gets the records of another as they are, times and checksums
/// included, and derives the tables anew. Everything throws SQLite::Exception, or
/// `error`.
class salvage_copy {
public:
  /// `fallback` is the objective where the first record does not say it.
  salvage_copy(connection made, goal_reader goal_of, objective fallback);

  /// In order, from 1.
  void add(const stored_record& row, const record& r);
  /// The tables are as they would be after the last record added.
  void complete_tables();
  /// Returns the hash that the weights of that number must have by the records that were
  /// added; none where no record is about them. The weights of those members of the final
  /// model that are no candidates (number 0) have no hash in a record: `stored`, which
  /// lies beside them, is theirs.
  [[nodiscard]] std::optional<std::uint64_t> weights_hash(candidate_id id,
                                                          std::uint64_t stored);
  void add_weights(candidate_id id, std::span<const char> weights);
  /// Has it all on the disk, in the one file.
  void close();

  [[nodiscard]] const connection& target() const { return target_; }

private:
  void set_goal(const objective& goal);

  connection target_;
  goal_reader goal_of_;
  objective fallback_;
  std::uint64_t records_ = 0;
  bool composed_ = false; ///< A record that was added puts a model together.
  tables queried_;
  SQLite::Statement insert_, select_weights_hash_;
};

} // namespace clade
