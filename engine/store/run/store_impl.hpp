#pragma once

#include "engine/store/run/store.hpp"
#include "engine/store/run/tables.hpp"
#include "engine/store/sqlite/blob_folder.hpp"
#include "engine/store/sqlite/connection.hpp"
#include "engine/store/sqlite/run_lock.hpp"

#include <memory>
#include <optional>
#include <set>
#include <string_view>

namespace clade {

/// The parts of a store; for the files of this folder alone.
struct store::impl {
  explicit impl(connection c)
      : connected(std::move(c)),
        large_weights(connected.file.parent_path() / weights_folder_name) {}

  std::optional<run_lock> lock; ///< Writers have it, until the file is closed.
  connection connected;
  blob_folder large_weights;

  /// Writers only.
  struct writer {
    explicit writer(connection& c);

    tables queried;
    SQLite::Statement begin, commit, rollback, insert_record, last_record, delete_weights,
        weights_ids, put_picture;
    /// Whether what is below, and what `queried` counts, is what is on the disk.
    bool loaded = false;
    std::uint64_t sequence = 0;
    std::uint64_t checksum = 0;
    std::set<candidate_id> with_weights; ///< In the table or beside the store.

    void load(const blob_folder& large_weights);
    void write(const kept_picture& p);
  };
  std::unique_ptr<writer> writes;

  /// Part of a transaction: throws an `error`.
  void write_weights(candidate_id id, const blob& weights);

  std::uint64_t size = 0;
  int version = schema_version;
  /// Not on the disk yet.
  std::optional<kept_picture> picture;

  /// Finds the record whose sequence the query (one column, one id to bind) gives,
  /// checked against its checksum.
  [[nodiscard]] expected<record> find_record(const char* query, candidate_id id) const;

  /// Counts the trainings to the end, which have the last generations to themselves.
  void count_final_trainings(run_overview& r) const;

  /// Returns the device of the slot that joined by the record of that number.
  [[nodiscard]] std::string device_of(std::uint64_t joined) const;
};

/// Names the candidates that there are.
[[nodiscard]] tl::unexpected<error> no_candidate(const connection& c, candidate_id id);

/// Says that a record is not the one of the candidate that its row says it is.
[[nodiscard]] tl::unexpected<error> misplaced(const connection& c, candidate_id id);

/// Runs `write` in a transaction of its own: all of it, or nothing.
template<class Write>
expected<void> store::transact(Write write) {
  const auto& c = impl_->connected;
  if (!impl_->writes)
    return fail(error_kind::internal, c.file.string() + ": was opened to read only");
  auto& w = *impl_->writes;
  std::optional<error> failure;
  try {
    w.begin.tryReset();
    w.begin.exec();
    if (!w.loaded)
      w.load(impl_->large_weights);
    write(w);
    w.commit.tryReset();
    w.commit.exec();
    impl_->size = w.sequence;
    return {};
  } catch (const SQLite::Exception& e) {
    failure = c.failure(e).value();
  } catch (const error& e) {
    failure = fail_in(c.file.string(), e).value();
  }
  w.loaded = false;
  try {
    // SQLite has done so already after some errors.
    if (c.in_transaction()) {
      w.rollback.tryReset();
      w.rollback.exec();
    }
  } catch (const SQLite::Exception& e) {
    failure->message += std::string("; and it could not be taken back: ") + e.what();
  }
  return tl::unexpected(std::move(*failure));
}

/// The checksum of a record, given that of its predecessor, 0 for the first.
[[nodiscard]] std::uint64_t chained_checksum(std::uint64_t predecessor,
                                             std::uint64_t sequence, std::int64_t unix_ms,
                                             std::int64_t kind,
                                             std::span<const char> payload);

/// The schema from which on stores keep one.
inline constexpr int first_with_picture = 2;

/// Has what `bind_picture` binds; inserts nothing where there is no such record.
inline constexpr const char* put_picture_sql =
    "insert or replace into picture select 1, sequence, checksum, ?, ? from records "
    "where sequence = ?";
/// Without a copy: the bytes must outlive the statement's execution.
void bind_picture(SQLite::Statement& put, const kept_picture& p);

/// Returns the outcome that has its name in the tables.
[[nodiscard]] std::optional<outcome> parse_outcome(std::string_view text);

} // namespace clade
