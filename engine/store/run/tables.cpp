// One prepared statement for each thing that is written. Rows are appended: ids and
// sequences only grow, so that a transaction touches the last page of each table and
// little else. There is no index on hashes or fitness for that reason; what would need
// one (the best so far, what a generation counts) is counted here as records pass, and
// written once for each transaction.
#include "engine/store/run/tables.hpp"

#include "engine/run/records/record_kind.hpp"
#include "engine/store/sqlite/objective_table.hpp"
#include "genome/genes/hash.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>

namespace clade {

namespace {

void bind(SQLite::Statement& s, int i, std::int64_t v) {
  s.bind(i, v);
}
void bind(SQLite::Statement& s, int i, std::uint64_t v) {
  s.bind(i, as_signed(v));
}
void bind(SQLite::Statement& s, int i, std::uint32_t v) {
  s.bind(i, v);
}
void bind(SQLite::Statement& s, int i, double v) {
  s.bind(i, v); // NaN is bound as NULL.
}
void bind(SQLite::Statement& s, int i, const std::string& v) {
  s.bindNoCopy(i, v);
}
void bind(SQLite::Statement& s, int i, const char* v) {
  s.bindNoCopy(i, v);
}
void bind(SQLite::Statement& s, int i, std::span<const char> v) {
  bind_blob(s, i, v);
}
template<class T>
void bind(SQLite::Statement& s, int i, const std::optional<T>& v) {
  if (v)
    bind(s, i, *v);
  else
    s.bind(i);
}

template<class... Values>
void execute(SQLite::Statement& s, const Values&... values) {
  // reset() would throw the error of the last execution once more.
  s.tryReset();
  int i = 0;
  (bind(s, ++i, values), ...);
  s.exec();
}

/// 0 is nobody.
std::optional<candidate_id> some(candidate_id id) {
  return id == 0 ? std::nullopt : std::optional(id);
}

std::optional<std::string> some(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional(text);
}

void append_json(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(c));
      out += escape;
    } else {
      out += c;
    }
  }
  out += '"';
}

std::string to_json(const std::vector<candidate_id>& ids) {
  std::string text = "[";
  for (const auto id : ids)
    text += fmt::format("{}{}", text.size() > 1 ? "," : "", id);
  return text + "]";
}

/// Returns the value as measured: not negated if the objective is lowered.
std::optional<double> measured(const contender& c, const objective& goal) {
  if (!c.fitness.ok)
    return std::nullopt;
  return goal.maximize ? c.fitness.primary : -c.fitness.primary;
}

bool fitter(const contender& a, const contender& b) {
  return clade::fitter(individual{a.id, nullptr, a.fitness}, {b.id, nullptr, b.fitness});
}

} // namespace

std::string to_json(const std::vector<metric>& metrics) {
  std::string text = "{";
  for (const auto& m : metrics) {
    if (text.size() > 1)
      text += ',';
    append_json(text, m.name);
    text += ':';
    char number[32];
    const auto end = std::to_chars(number, number + sizeof number, m.value).ptr;
    // JSON has no word for infinity.
    text += std::isfinite(m.value) ? std::string_view(number, end) : "null";
  }
  return text + "}";
}

tables::tables(connection& c)
    : connected_(c),
      select_run_(c.db, "select state, reason, generation, born, evaluated, "
                        "failed, training_seconds, best, champion, updated_ms "
                        "from runs join progress using (run)"),
      select_generation_(c.db, "select born_ms, born, evaluated, failed, best "
                               "from generations where generation = ?"),
      select_generation_of_(c.db, "select generation from genomes where id = ?"),
      select_evaluation_(c.db,
                         "select payload from evaluations join records using (sequence) "
                         "where id = ?"),
      update_run_(c.db,
                  "update runs set started_ms = ?, version = ?, seed = ?, search = ?, "
                  "experiment = ?"),
      fork_run_(c.db, "update runs set seed = ?, search = ?, experiment = ?"),
      put_progress_(c.db,
                    "update progress set records = ?, updated_ms = ?, state = ?, "
                    "reason = ?, generation = ?, born = ?, evaluated = ?, failed = ?, "
                    "training_seconds = ?, best = ?, best_fitness = ?, champion = ?"),
      insert_genome_(c.db, "insert into genomes values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "
                           "?)"),
      insert_parent_(c.db, "insert into parents values (?, ?, ?)"),
      insert_evaluation_(
          c.db, "insert into evaluations values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"),
      insert_epoch_(c.db, "insert into epochs values (?, ?, ?, ?)"),
      put_generation_(c.db,
                      "insert into generations (generation, born_ms, born, evaluated, "
                      "failed, best, best_fitness) values (?, ?, ?, ?, ?, ?, ?) "
                      "on conflict do update set born = excluded.born, "
                      "evaluated = excluded.evaluated, failed = excluded.failed, "
                      "best = excluded.best, best_fitness = excluded.best_fitness"),
      close_generation_(c.db, "update generations set closed_ms = ?, survivors = ? "
                              "where generation = ?"),
      insert_node_(c.db, "insert into nodes values (?, ?, ?, null, null)"),
      close_node_(c.db, "update nodes set left_ms = ?, reason = ? "
                        "where slot = ? and left_ms is null"),
      close_nodes_(c.db, "update nodes set left_ms = ?, reason = 'the run stopped' "
                         "where left_ms is null"),
      insert_attempt_(c.db, "insert into attempts values (?, ?, ?, ?, ?, ?)"),
      insert_examination_(c.db, "insert into examinations values (?, ?, ?, ?, ?, ?)"),
      put_weights_(c.db, "insert or replace into weights values (?, ?, ?)") {}

std::string forked_comment(const run_forked& r) {
  auto line = "# " + to_text(record{r});
  std::ranges::replace_if(
      line, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; },
      ' ');
  return line + "\n";
}

void tables::load() {
  select_run_.tryReset();
  if (!select_run_.executeStep())
    throw error{error_kind::corrupt, "the run's row is missing"};
  const auto natural_at = [&](int i) { return natural(select_run_.getColumn(i)); };
  goal_ = read_goal(connected_.db);
  const auto state = parse_stored_state(select_run_.getColumn(0).getString());
  if (!state)
    throw error{error_kind::corrupt, "the run's row has an unknown state"};
  progress_ = {};
  progress_.state = *state;
  progress_.reason = select_run_.getColumn(1).getString();
  progress_.generation = natural_at(2);
  progress_.born = natural_at(3);
  progress_.evaluated = natural_at(4);
  progress_.failed = natural_at(5);
  progress_.training_seconds = select_run_.getColumn(6).getDouble();
  const auto best = natural_at(7);
  progress_.champion = natural_at(8);
  unix_ms_ = progress_.updated_ms = select_run_.getColumn(9).getInt64();
  select_run_.tryReset();
  best_ = best == 0 ? contender{} : contender_of(best);
  generations_.clear();
  load_folds();
}

// Folds are trained after the end was planned.
void tables::load_folds() {
  of_folds_.clear();
  SQLite::Statement born(connected_.db,
                         "select payload from records where kind = ? and sequence > "
                         "(select min(sequence) from records where kind = ?)");
  born.bind(1, static_cast<std::int64_t>(kind_of(record(candidate_born{}))));
  born.bind(2, static_cast<std::int64_t>(kind_of(record(final_planned{}))));
  while (born.executeStep()) {
    const auto read = decode_record(bytes_of(born.getColumn(0)));
    if (!read)
      throw error(read.error());
    if (const auto* one = std::get_if<candidate_born>(&*read);
        one && one->born.fold.of > 1)
      of_folds_.insert(one->born.id);
  }
}

contender tables::contender_of(candidate_id id) {
  select_evaluation_.tryReset();
  select_evaluation_.bind(1, as_signed(id));
  if (!select_evaluation_.executeStep())
    throw error{error_kind::corrupt, fmt::format("no evaluation of #{}", id)};
  const auto read = decode_record(bytes_of(select_evaluation_.getColumn(0)));
  select_evaluation_.tryReset();
  if (!read)
    throw error(read.error());
  const auto* evaluated = std::get_if<candidate_evaluated>(&*read);
  if (evaluated == nullptr || evaluated->evaluated.id != id)
    throw error{error_kind::corrupt,
                fmt::format("another record in the place of the evaluation of #{}", id)};
  return {id, fitness_of(evaluated->evaluated, goal_)};
}

tables::generation_row& tables::row_of(std::uint64_t generation) {
  if (const auto found = generations_.find(generation); found != generations_.end())
    return found->second;
  generation_row row;
  row.born_ms = unix_ms_;
  select_generation_.tryReset();
  select_generation_.bind(1, as_signed(generation));
  if (select_generation_.executeStep()) {
    const auto natural_at = [&](int i) {
      return natural(select_generation_.getColumn(i));
    };
    row.born_ms = select_generation_.getColumn(0).getInt64();
    row.born = natural_at(1);
    row.evaluated = natural_at(2);
    row.failed = natural_at(3);
    if (const auto best = natural_at(4); best != 0)
      row.best = contender_of(best);
  }
  select_generation_.tryReset();
  return generations_.emplace(generation, row).first->second;
}

void tables::write(std::uint64_t sequence, std::int64_t unix_ms, const record& r) {
  if (const auto* told = std::get_if<operator_command>(&r);
      told && annotates(told->order))
    return;
  sequence_ = sequence;
  predecessor_ms_ = unix_ms_;
  unix_ms_ = unix_ms;
  std::visit([this](const auto& one) { write(one); }, r);
}

void tables::write(const run_started& r) {
  execute(update_run_, unix_ms_, r.version, r.seed, to_text(r.search), r.experiment);
  progress_.state = stored_state::started;
}

void tables::write(const candidate_born& r) {
  const auto& c = r.born;
  const std::uint64_t nodes = c.genome ? c.genome->nodes.size() : 0;
  const std::uint64_t edges = c.genome ? c.genome->edges.size() : 0;
  execute(insert_genome_, c.id, sequence_, c.generation, c.index, to_text(c.network),
          nodes, edges, to_text(c.changes), some(c.equal_to), c.work, some(c.epochs),
          some(c.start));
  for (std::uint64_t i = 0; i < c.parents.size(); ++i)
    execute(insert_parent_, c.id, i, c.parents[i]);
  if (c.fold.of > 1)
    of_folds_.insert(c.id);
  auto& row = row_of(c.generation);
  ++row.born;
  row.changed = true;
  ++progress_.born;
  progress_.generation = std::max(progress_.generation, c.generation);
}

void tables::write(const candidate_evaluated& r) {
  const auto& e = r.evaluated;
  const contender one{e.id, fitness_of(e, goal_)};
  execute(insert_evaluation_, e.id, sequence_, to_text(e.outcome), measured(one, goal_),
          to_json(e.metrics), e.parameters, e.weights_hash, some(e.equal_to),
          some(e.reason), e.seconds, e.slot, e.tries);
  for (const auto& ep : e.curve)
    execute(insert_epoch_, e.id, ep.number, to_json(ep.metrics), ep.seconds);
  ++progress_.evaluated;
  progress_.failed += one.fitness.ok ? 0 : 1;
  progress_.training_seconds += e.seconds;
  // Each fold is judged by other examples.
  const bool compares = one.fitness.ok && !of_folds_.contains(e.id);
  if (compares && (best_.id == 0 || fitter(one, best_)))
    best_ = one;
  select_generation_of_.tryReset();
  select_generation_of_.bind(1, as_signed(e.id));
  if (!select_generation_of_.executeStep())
    return;
  const auto generation = natural(select_generation_of_.getColumn(0));
  select_generation_of_.tryReset();
  auto& row = row_of(generation);
  ++row.evaluated;
  row.failed += one.fitness.ok ? 0 : 1;
  if (compares && (row.best.id == 0 || fitter(one, row.best)))
    row.best = one;
  row.changed = true;
}

void tables::write(const generation_closed& r) {
  auto& row = row_of(r.generation);
  const auto best = measured(row.best, goal_);
  execute(put_generation_, r.generation, row.born_ms, row.born, row.evaluated, row.failed,
          some(row.best.id), best);
  execute(close_generation_, unix_ms_, to_json(r.survivors), r.generation);
  // Rarely, one of its candidates is evaluated later; then the row is read again.
  generations_.erase(r.generation);
}

void tables::write(const run_finished& r) {
  progress_.state = stored_state::finished;
  progress_.reason.clear();
  progress_.champion = r.champion;
  for (std::uint64_t i = 0; i < r.examinations.size(); ++i) {
    const auto& e = r.examinations[i];
    execute(insert_examination_, sequence_, i, e.subject, some(e.id), to_json(e.metrics),
            e.parameters);
  }
}

void tables::write(const run_paused& r) {
  progress_.state = stored_state::paused;
  progress_.reason = r.reason;
}

void tables::write(const run_resumed&) {
  progress_.state = stored_state::started;
  progress_.reason.clear();
  // Whoever was there when the run was killed left unseen.
  execute(close_nodes_, predecessor_ms_);
}

void tables::write(const attempt_failed& r) {
  execute(insert_attempt_, sequence_, unix_ms_, r.id, r.attempt, r.slot, r.reason);
}

void tables::write(const slot_changed& r) {
  if (r.joined)
    execute(insert_node_, sequence_, r.slot, unix_ms_);
  else
    execute(close_node_, unix_ms_, r.reason, r.slot);
}

// Among the records alone.
void tables::write(const straggler_seen&) {}

void tables::write(const interim_composed&) {}

void tables::write(const run_forked& r) {
  execute(fork_run_, r.seed, to_text(r.search), forked_comment(r) + r.experiment);
}

void tables::write_weights(candidate_id id, std::span<const char> weights) {
  execute(put_weights_, id, hash64(weights), weights);
}

void tables::write_progress(std::uint64_t records) {
  for (auto& [generation, row] : generations_) {
    if (!row.changed)
      continue;
    execute(put_generation_, generation, row.born_ms, row.born, row.evaluated, row.failed,
            some(row.best.id), measured(row.best, goal_));
    row.changed = false;
  }
  progress_.updated_ms = unix_ms_;
  execute(put_progress_, records, unix_ms_, to_text(progress_.state), progress_.reason,
          progress_.generation, progress_.born, progress_.evaluated, progress_.failed,
          progress_.training_seconds, some(best_.id), measured(best_, goal_),
          some(progress_.champion));
}

} // namespace clade
