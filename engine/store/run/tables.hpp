#pragma once

#include "engine/run/records/annotations.hpp"
#include "engine/store/run/overview.hpp"
#include "engine/store/sqlite/connection.hpp"

#include <map>
#include <unordered_set>

namespace clade {

/// The values that a candidate needs to be the best of something.
struct contender {
  candidate_id id = 0; ///< 0: none yet.
  clade::fitness fitness;
};

/// Writes the tables that people query, record by record, inside transactions of the
/// caller. The counts are kept in memory from one transaction to the next; `load` reads
/// them anew, and must be called before the first and after each one that failed. All
/// throw SQLite::Exception, or `error` where stored bytes cannot be read.
class tables {
public:
  explicit tables(connection& c);

  void load();
  void write(std::uint64_t sequence, std::int64_t unix_ms, const record& r);
  void write_weights(candidate_id id, std::span<const char> weights);
  /// To be called last in a transaction.
  void write_progress(std::uint64_t records);

private:
  struct generation_row {
    std::int64_t born_ms = 0;
    std::uint64_t born = 0, evaluated = 0, failed = 0;
    contender best;
    bool changed = false;
  };

  void write(const run_started& r);
  void write(const candidate_born& r);
  void write(const candidate_evaluated& r);
  void write(const generation_closed& r);
  void write(const run_finished& r);
  void write(const run_paused& r);
  void write(const run_resumed& r);
  void write(const attempt_failed& r);
  void write(const slot_changed& r);
  void write(const straggler_seen& r);
  void write(const interim_composed& r);
  void write(const run_forked& r);
  /// No table has anything of other kinds.
  template<class Other>
  void write(const Other&) {}

  generation_row& row_of(std::uint64_t generation);
  contender contender_of(candidate_id id);
  void load_folds();

  connection& connected_;
  objective goal_;
  run_overview progress_;
  contender best_;
  /// Trainings that leave out a fold of the examples.
  std::unordered_set<candidate_id> of_folds_;
  /// The generations that change still.
  std::map<std::uint64_t, generation_row> generations_;
  /// The sequence of the record that is being written. Records that people wrote, perhaps
  /// days after the end, are no time of the run.
  std::uint64_t sequence_ = 0;
  std::int64_t unix_ms_ = 0;
  std::int64_t predecessor_ms_ = 0; ///< The time of the record before it.

  SQLite::Statement select_run_, select_generation_, select_generation_of_,
      select_evaluation_;
  SQLite::Statement update_run_, fork_run_, put_progress_, insert_genome_, insert_parent_,
      insert_evaluation_, insert_epoch_, put_generation_, close_generation_, insert_node_,
      close_node_, close_nodes_, insert_attempt_, insert_examination_, put_weights_;
};

/// "# forked from digits-20260131-140500 at generation 3: experiment.seed=7": a line of
/// TOML before the experiment of a fork.
[[nodiscard]] std::string forked_comment(const run_forked& r);

/// {"validation.accuracy":0.97}
[[nodiscard]] std::string to_json(const std::vector<metric>& metrics);

} // namespace clade
