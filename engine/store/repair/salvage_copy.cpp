#include "engine/store/repair/salvage_copy.hpp"

#include "engine/store/sqlite/objective_table.hpp"

namespace clade {

namespace {

/// The cost of a large log is not worth fewer syncs.
constexpr std::uint64_t records_per_transaction = 10'000;

} // namespace

salvage_copy::salvage_copy(connection made, goal_reader goal_of, objective fallback)
    : target_(std::move(made)),
      goal_of_(std::move(goal_of)),
      fallback_(std::move(fallback)),
      queried_(target_),
      insert_(target_.db, "insert into records values (?, ?, ?, ?, ?)"),
      select_weights_hash_(target_.db,
                           "select weights_hash from evaluations where id = ?") {
  target_.db.exec("begin immediate");
  set_goal(fallback_);
}

void salvage_copy::set_goal(const objective& goal) {
  write_goal(target_.db, goal);
  queried_.load();
}

void salvage_copy::add(const stored_record& row, const record& r) {
  if (records_ == 0)
    if (const auto* started = std::get_if<run_started>(&r))
      if (const auto goal = goal_of_(*started))
        set_goal(*goal);
  insert_.tryReset();
  insert_.bind(1, as_signed(row.sequence));
  insert_.bind(2, row.unix_ms);
  insert_.bind(3, row.kind);
  bind_blob(insert_, 4, row.payload);
  insert_.bind(5, as_signed(row.checksum));
  insert_.exec();
  queried_.write(row.sequence, row.unix_ms, r);
  composed_ = composed_ || std::holds_alternative<model_composed>(r)
              || std::holds_alternative<interim_composed>(r);
  records_ = row.sequence;
  if (records_ % records_per_transaction == 0) {
    complete_tables();
    target_.db.exec("commit; begin immediate");
  }
}

void salvage_copy::complete_tables() {
  if (records_ != 0)
    queried_.write_progress(records_);
}

std::optional<std::uint64_t> salvage_copy::weights_hash(candidate_id id,
                                                        std::uint64_t stored) {
  if (id == 0)
    return composed_ ? std::optional(stored) : std::nullopt;
  std::optional<std::uint64_t> hash;
  select_weights_hash_.tryReset();
  select_weights_hash_.bind(1, as_signed(id));
  if (select_weights_hash_.executeStep())
    hash = natural(select_weights_hash_.getColumn(0));
  select_weights_hash_.tryReset();
  return hash;
}

void salvage_copy::add_weights(candidate_id id, std::span<const char> weights) {
  queried_.write_weights(id, weights);
}

void salvage_copy::close() {
  target_.db.exec("commit");
  SQLite::Statement checkpoint(target_.db, "pragma wal_checkpoint(truncate)");
  if (!checkpoint.executeStep() || checkpoint.getColumn(0).getInt() != 0)
    throw error{error_kind::io, "its log cannot be brought into it"};
}

} // namespace clade
