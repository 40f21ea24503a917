#pragma once

#include "engine/run/records/record.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace clade {

/// The content that a store's file still holds, and the faults that it has. A fault is a
/// part of a sentence, empty where nothing is wrong.
struct store_condition {
  /// That many records are whole, from the first on.
  std::uint64_t records = 0;
  /// So many were written, as far as the file says.
  std::uint64_t written = 0;
  /// The fault of the first record that is not whole.
  std::string record_fault;
  /// The fault of the tables for queries: the places at which they are not what the
  /// records say. They are compared only if every record is whole.
  std::string table_fault;
  /// The things that somebody added to the file, such as "table mine", and that a run
  /// leaves alone. A trigger is a fault, since it changes what is written.
  std::vector<std::string> additions;
  /// Candidates whose weights are whole, and what is wrong with the others.
  std::vector<candidate_id> weights;
  std::vector<std::string> weights_faults;
  /// The fault of the file as a database: its header, its pages.
  std::string file_fault;
  /// The fault of the log beside it ("run.db-wal"): transactions that were on the disk
  /// and that SQLite now leaves out. Empty while somebody writes.
  std::string log_fault;

  [[nodiscard]] bool whole() const {
    return record_fault.empty() && table_fault.empty() && weights_faults.empty()
           && file_fault.empty() && log_fault.empty();
  }
};

/// Says which objective an experiment has: from it the tables are derived.
using goal_reader = std::function<expected<objective>(const run_started&)>;

/// Examines a store as it lies, also while its run goes on; writes nothing. An error is
/// of the machine, or `not_found`, or `conflict` (a newer version's); damage never is. A
/// log that was cut off leaves no trace: the store is then whole as of an earlier
/// transaction.
[[nodiscard]] expected<store_condition> examine_store(const std::filesystem::path& file,
                                                      const goal_reader& goal_of);

struct store_repair {
  store_condition found;
  /// The place of the damaged file now, with its log beside it; empty if nothing was
  /// wrong.
  std::filesystem::path damaged;
};

/// Puts a new store, of this schema, in the place of a damaged one: all records that are
/// whole, tables derived from them, and the weights that are whole. The damaged one is
/// kept beside it ("run.db.damaged", "run.db.damaged-2", ...). `conflict` while a process
/// writes it; `corrupt` if no record is whole. After an error, or a kill, the damaged
/// file is still there under one of the two names.
[[nodiscard]] expected<store_repair> repair_store(const std::filesystem::path& file,
                                                  const goal_reader& goal_of);

} // namespace clade
