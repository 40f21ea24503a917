#pragma once

#include "engine/run/records/annotations.hpp"
#include "engine/store/run/overview.hpp"
#include "engine/store/run/rows.hpp"
#include "engine/store/sqlite/schema.hpp"
#include "genome/codec/blob.hpp"

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>

namespace clade {

/// A record on its way to the disk, with the weights that come with an evaluation, if
/// any.
struct entry {
  clade::record record;
  blob weights;
};

/// In a run's folder: weights too large for the store (`store::most_weights_in_table`).
inline constexpr const char* weights_folder_name = "weights";

/// Views of a run begin with this picture (engine/telemetry/picture/stored_picture.hpp), bytes
/// that the store does not look into.
struct kept_picture {
  std::uint64_t sequence = 0; ///< The sequence of the last record that is in it.
  bytes data;
};

/// The store of one run: one SQLite file (WAL, synchronous=FULL) that is whole on its own,
/// but for large weights, which lie beside it (blob_folder.hpp). Table `records`
/// (sequence, time, kind, payload, checksum chained over its predecessor's) is the truth;
/// the tables that people query are written from it in the same transaction. Schema and
/// example queries: engine/store/schema.sql. One process writes (a lock file says which);
/// any number read while it does. Every call blocks on the disk. One thread at a time.
class store {
public:
  store(store&&) noexcept;
  store& operator=(store&&) noexcept;
  ~store();

  /// Fails (`conflict`) if the file is there already. `goal`, the experiment's objective,
  /// says what the tables have as fitness and as the best; it is stored.
  [[nodiscard]] static expected<store> create(const std::filesystem::path& file,
                                              const objective& goal = {});

  /// Opens to go on writing: takes the lock (`conflict` if a running process holds it),
  /// refuses another schema, older (upgrade.hpp) or newer, checks every checksum
  /// (`corrupt`, naming the first record that is not whole).
  [[nodiscard]] static expected<store> open(const std::filesystem::path& file);

  /// Opens to read, a store of this or any earlier schema: no lock, nothing is written.
  [[nodiscard]] static expected<store> open_to_read(const std::filesystem::path& file);

  /// One transaction: when it returns, all are on the disk, or none. An error (disk full,
  /// I/O) leaves the file as it was before the call. Returns the first one's number and
  /// the time of all of them.
  struct place {
    std::uint64_t sequence = 0;
    std::int64_t unix_ms = 0;
  };
  [[nodiscard]] expected<place> append(std::span<const entry> entries);

  /// The records after `after` in order, checksums verified, until `visit` fails.
  [[nodiscard]] expected<void> for_each(
      const std::function<expected<void>(std::uint64_t sequence, std::int64_t unix_ms,
                                         const record& r)>& visit,
      std::uint64_t after = 0) const;

  /// Records, as of opening or the last append of one's own.
  [[nodiscard]] std::uint64_t size() const;

  /// The first record's checksum: the same for every copy of a run, another for every
  /// other run. `not_found` while nothing is recorded.
  [[nodiscard]] expected<std::uint64_t> identity() const;

  /// By id; `not_found`.
  [[nodiscard]] expected<candidate> find_candidate(candidate_id id) const;
  [[nodiscard]] expected<evaluation> find_evaluation(candidate_id id) const;

  /// SQLite holds at most 10^9 bytes in one value and takes twice its memory to write it.
  static constexpr std::uint64_t most_weights_in_table = 64 << 20;

  /// The weights kept for that candidate; empty if none are.
  [[nodiscard]] expected<blob> find_weights(candidate_id id) const;

  /// Drops all weights but these candidates'.
  [[nodiscard]] expected<void> keep_weights(std::span<const candidate_id> ids);

  /// From here on the next append takes it along, in the place of the one before; until
  /// then nothing is written. (kept_picture.cpp)
  void keep_picture(kept_picture p);
  /// Records that wait for the next append are on the disk when it returns.
  [[nodiscard]] expected<void> write_picture();
  /// None where none is kept, or one that does not fit the records before it.
  [[nodiscard]] expected<std::optional<kept_picture>> find_picture() const;

  /// Returns what the tables say, for reports; fast however long the run is.
  /// (overview.cpp)
  [[nodiscard]] expected<run_overview> overview() const;
  /// Generations from `first` on, at most `count`.
  [[nodiscard]] expected<std::vector<generation_overview>>
  generations(std::uint64_t first, std::size_t count) const;
  /// A generation's candidates in their order; `not_found` if it has none.
  [[nodiscard]] expected<std::vector<candidate_overview>>
  members(std::uint64_t generation) const;
  [[nodiscard]] expected<candidate_overview> find_overview(candidate_id id) const;
  /// The candidates after `after` by id, at most `count`. (candidate_rows.cpp)
  [[nodiscard]] expected<std::vector<candidate_row>> rows(candidate_id after,
                                                          std::size_t count) const;
  [[nodiscard]] expected<std::vector<node_overview>> nodes() const;
  /// Returns what people wrote on candidates and on the run. Passes over the numbers of
  /// all records. (rows.cpp)
  [[nodiscard]] expected<annotations> find_annotations() const;
  /// Returns what the test data said at the end; empty before.
  [[nodiscard]] expected<std::vector<examination>> examinations() const;

  /// Returns how the final model was put together; none where there is none.
  [[nodiscard]] expected<std::optional<model_composed>> find_final_model() const;
  /// Returns the last that was put together while the run was under way; none where there
  /// is none. It looks at the records one by one.
  [[nodiscard]] expected<std::optional<model_composed>> find_interim_model() const;

  /// From here on every answer is of this moment, whatever is recorded meanwhile; the log
  /// beside the file grows until this is closed. (rows.cpp)
  [[nodiscard]] expected<void> hold();
  /// All rows, in the order of ids, one after the other.
  [[nodiscard]] expected<void>
  for_each_evaluation(const std::function<void(const evaluation_row&)>& visit) const;
  [[nodiscard]] expected<void>
  for_each_child(const std::function<void(const child_row&)>& visit) const;
  /// A row for each candidate and parent, those of a candidate one after the other.
  [[nodiscard]] expected<void>
  for_each_descent(const std::function<void(const descent_row&)>& visit) const;
  /// Copies are left out, which took no time.
  [[nodiscard]] expected<void>
  for_each_work(const std::function<void(const work_row&)>& visit) const;
  /// The most frequent first, at most so many.
  [[nodiscard]] expected<std::vector<failure_row>> failures(std::size_t most) const;
  [[nodiscard]] expected<std::vector<failure_row>> lost_attempts(std::size_t most) const;
  /// When a record was written.
  [[nodiscard]] expected<std::int64_t> recorded_ms(std::uint64_t sequence) const;
  /// Returns the records of candidates from `first` on, at most `count`; checksums are
  /// not looked at.
  [[nodiscard]] expected<std::vector<candidate_records>>
  records_of(candidate_id first, std::size_t count) const;
  /// Parents, their parents and so on, each once, the youngest first.
  [[nodiscard]] expected<std::vector<candidate_id>> ancestors(candidate_id id) const;

  inline static constexpr int schema_version = run_schema_version;
  /// Returns the version of the file that was opened.
  [[nodiscard]] int version() const;

private:
  struct impl;
  template<class Write>
  [[nodiscard]] expected<void> transact(Write write);
  explicit store(std::unique_ptr<impl> i);
  std::unique_ptr<impl> impl_;
};

} // namespace clade
