// Reads for people, of the tables made for them. The quartiles of a generation are found
// from its candidates when they are asked for: they change while it is in progress.
#include "engine/run/records/record_kind.hpp"
#include "engine/run/state/summary.hpp"
#include "engine/store/run/store_impl.hpp"
#include "engine/store/sqlite/objective_table.hpp"
#include "genome/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace clade {

namespace {

// In the order of `stored_state`.
constexpr std::array states{"created", "started", "paused", "finished"};

/// Parses a JSON array as tables.cpp writes it.
std::vector<candidate_id> parse_ids(const std::string& text) {
  std::vector<candidate_id> ids;
  candidate_id id = 0;
  bool inside = false;
  for (const char c : text) {
    const bool digit = c >= '0' && c <= '9';
    if (digit)
      id = id * 10 + static_cast<candidate_id>(c - '0');
    else if (inside)
      ids.push_back(std::exchange(id, 0));
    inside = digit;
  }
  return ids;
}

std::optional<std::int64_t> optional_number(const SQLite::Column& c) {
  return c.isNull() ? std::nullopt : std::optional(c.getInt64());
}

constexpr const char* candidate_columns = "select g.id, g.generation, g.place, g.origin, "
                                          "g.equal_to, g.nodes, e.outcome, e.fitness, "
                                          "e.parameters, e.seconds, e.reason, "
                                          "g.epochs, g.start from "
                                          "genomes g left join evaluations e using (id) ";

candidate_overview read_candidate(SQLite::Statement& row, SQLite::Statement& parents) {
  candidate_overview c;
  c.id = natural(row.getColumn(0));
  c.generation = natural(row.getColumn(1));
  c.index = natural(row.getColumn(2));
  c.origin = row.getColumn(3).getString();
  c.equal_to = natural(row.getColumn(4));
  c.nodes = natural(row.getColumn(5));
  if (!row.getColumn(6).isNull())
    c.result = parse_outcome(row.getColumn(6).getString());
  if (!row.getColumn(7).isNull())
    c.fitness = row.getColumn(7).getDouble();
  c.parameters = natural(row.getColumn(8));
  c.seconds = row.getColumn(9).getDouble();
  c.reason = row.getColumn(10).getString();
  c.epochs = static_cast<std::uint32_t>(natural(row.getColumn(11)));
  c.start = natural(row.getColumn(12));
  parents.tryReset();
  parents.bind(1, as_signed(c.id));
  while (parents.executeStep())
    c.parents.push_back(natural(parents.getColumn(0)));
  return c;
}

constexpr const char* select_parents =
    "select parent from parents where child = ? order by position";

/// Fills in what is computed from the generation's candidates.
void summarise(generation_overview& g, SQLite::Statement& evaluated) {
  std::vector<double> values;
  evaluated.tryReset();
  evaluated.bind(1, as_signed(g.generation));
  while (evaluated.executeStep()) {
    g.training_seconds += evaluated.getColumn(1).getDouble();
    if (!evaluated.getColumn(0).isNull())
      values.push_back(evaluated.getColumn(0).getDouble());
  }
  if (values.empty())
    return;
  std::sort(values.begin(), values.end());
  g.lower_quartile = quantile(values, 0.25);
  g.median = quantile(values, 0.5);
  g.upper_quartile = quantile(values, 0.75);
}

} // namespace

tl::unexpected<error> no_candidate(const connection& c, candidate_id id) {
  SQLite::Statement last(c.db, "select max(id) from genomes");
  const auto most = last.executeStep() ? natural(last.getColumn(0)) : 0;
  return fail(error_kind::not_found,
              fmt::format("{}: no candidate #{}{}", c.file.string(), id,
                          most == 0 ? "; the run has none yet"
                                    : fmt::format("; the run has #1 to #{}", most)));
}

std::optional<outcome> parse_outcome(std::string_view text) {
  for (int i = 0; i <= static_cast<int>(outcome::dropped); ++i)
    if (to_text(static_cast<outcome>(i)) == text)
      return static_cast<outcome>(i);
  return std::nullopt;
}

const char* to_text(stored_state s) {
  return states.at(static_cast<std::size_t>(s));
}

std::optional<stored_state> parse_stored_state(std::string_view text) {
  return parse_one_of<stored_state>(states, text);
}

expected<run_overview> store::overview() const {
  const auto& c = impl_->connected;
  return guarded(c, [&]() -> expected<run_overview> {
    SQLite::Statement row(
        c.db,
        "select version, experiment, seed, started_ms, updated_ms, "
        "state, "
        "reason, records, generation, born, evaluated, failed, training_seconds, best, "
        "best_fitness, champion from runs join progress using (run)");
    if (!row.executeStep())
      return fail(error_kind::corrupt, c.file.string() + ": the run's row is missing");
    run_overview r;
    r.goal = read_goal(c.db);
    r.version = row.getColumn(0).getString();
    r.experiment = row.getColumn(1).getString();
    r.seed = natural(row.getColumn(2));
    r.started_ms = row.getColumn(3).getInt64();
    r.updated_ms = row.getColumn(4).getInt64();
    const auto state = parse_stored_state(row.getColumn(5).getString());
    if (!state)
      return fail(error_kind::corrupt,
                  c.file.string() + ": the run's row has an unknown state");
    r.state = *state;
    r.reason = row.getColumn(6).getString();
    r.records = natural(row.getColumn(7));
    r.generation = natural(row.getColumn(8));
    r.born = natural(row.getColumn(9));
    r.evaluated = natural(row.getColumn(10));
    r.failed = natural(row.getColumn(11));
    r.training_seconds = row.getColumn(12).getDouble();
    r.best = natural(row.getColumn(13));
    r.best_fitness = row.getColumn(14).getDouble();
    r.champion = natural(row.getColumn(15));
    impl_->count_final_trainings(r);
    return r;
  });
}

// A damaged record is for others to tell.
void store::impl::count_final_trainings(run_overview& r) const {
  r.search_generations = r.born == 0 ? 0 : r.generation + 1;
  SQLite::Statement candidates(connected.db,
                               "select count(*) from genomes where generation = ?");
  for (; r.search_generations > 0; --r.search_generations) {
    const auto last = r.search_generations - 1;
    const auto first =
        find_record("select min(sequence) from genomes where generation = ?", last);
    const auto* one = first ? std::get_if<candidate_born>(&*first) : nullptr;
    if (one == nullptr || one->born.changes.empty()
        || one->born.changes.front().kind != change_kind::trained_to_end)
      break;
    candidates.tryReset();
    candidates.bind(1, as_signed(last));
    if (candidates.executeStep())
      r.final_trainings += natural(candidates.getColumn(0));
  }
}

expected<std::vector<generation_overview>> store::generations(std::uint64_t first,
                                                              std::size_t count) const {
  const auto& c = impl_->connected;
  return guarded(c, [&]() -> expected<std::vector<generation_overview>> {
    SQLite::Statement row(
        c.db, "select generation, born, evaluated, failed, best, best_fitness, "
              "born_ms, closed_ms, survivors from generations "
              "where generation >= ? order by generation limit ?");
    SQLite::Statement evaluated(c.db,
                                "select e.fitness, e.seconds from genomes g "
                                "join evaluations e using (id) where g.generation = ?");
    row.bind(1, as_signed(first));
    row.bind(2, as_signed(std::min<std::uint64_t>(count, INT64_MAX)));
    std::vector<generation_overview> found;
    while (row.executeStep()) {
      generation_overview g;
      g.generation = natural(row.getColumn(0));
      g.born = natural(row.getColumn(1));
      g.evaluated = natural(row.getColumn(2));
      g.failed = natural(row.getColumn(3));
      g.best = natural(row.getColumn(4));
      g.best_fitness = row.getColumn(5).getDouble();
      g.born_ms = row.getColumn(6).getInt64();
      g.closed_ms = optional_number(row.getColumn(7));
      g.survivors = parse_ids(row.getColumn(8).getString());
      summarise(g, evaluated);
      found.push_back(std::move(g));
    }
    return found;
  });
}

expected<std::vector<candidate_overview>> store::members(std::uint64_t generation) const {
  const auto& c = impl_->connected;
  return guarded(c, [&]() -> expected<std::vector<candidate_overview>> {
    SQLite::Statement row(c.db, std::string(candidate_columns)
                                    + "where g.generation = ? order by g.id");
    SQLite::Statement parents(c.db, select_parents);
    row.bind(1, as_signed(generation));
    std::vector<candidate_overview> found;
    while (row.executeStep())
      found.push_back(read_candidate(row, parents));
    if (found.empty())
      return fail(error_kind::not_found,
                  fmt::format("{}: no generation {}", c.file.string(), generation));
    return found;
  });
}

expected<candidate_overview> store::find_overview(candidate_id id) const {
  const auto& c = impl_->connected;
  return guarded(c, [&]() -> expected<candidate_overview> {
    SQLite::Statement row(c.db, std::string(candidate_columns) + "where g.id = ?");
    SQLite::Statement parents(c.db, select_parents);
    row.bind(1, as_signed(id));
    if (!row.executeStep())
      return no_candidate(c, id);
    return read_candidate(row, parents);
  });
}

// The table has only what changes. A damaged record is for others to tell.
std::string store::impl::device_of(std::uint64_t joined) const {
  const auto r = find_record("select sequence from nodes where sequence = ?", joined);
  const auto* slot = r ? std::get_if<slot_changed>(&*r) : nullptr;
  return slot != nullptr && slot->joined ? slot->reason : std::string();
}

expected<std::vector<node_overview>> store::nodes() const {
  const auto& c = impl_->connected;
  return guarded(c, [&]() -> expected<std::vector<node_overview>> {
    SQLite::Statement row(c.db, "select slot, joined_ms, left_ms, reason, sequence "
                                "from nodes order by sequence");
    std::vector<node_overview> found;
    while (row.executeStep())
      found.push_back({.slot = row.getColumn(0).getString(),
                       .joined_ms = row.getColumn(1).getInt64(),
                       .left_ms = optional_number(row.getColumn(2)),
                       .reason = row.getColumn(3).getString(),
                       .device = impl_->device_of(natural(row.getColumn(4)))});
    return found;
  });
}

// It is recorded right before the run's end.
expected<std::optional<model_composed>> store::find_final_model() const {
  const auto& c = impl_->connected;
  return guarded(c, [&]() -> expected<std::optional<model_composed>> {
    auto r =
        impl_->find_record("select sequence - 1 from examinations where position = ? "
                           "order by sequence desc limit 1",
                           0);
    if (!r && r.error().kind == error_kind::not_found)
      return std::nullopt;
    if (!r)
      return tl::unexpected(r.error());
    auto* composed = std::get_if<model_composed>(&*r);
    return composed == nullptr ? std::nullopt : std::optional(std::move(*composed));
  });
}

expected<std::optional<model_composed>> store::find_interim_model() const {
  const auto& c = impl_->connected;
  return guarded(c, [&]() -> expected<std::optional<model_composed>> {
    auto r = impl_->find_record(
        "select sequence from records where kind = ? "
        "order by sequence desc limit 1",
        static_cast<std::int64_t>(kind_of(record(interim_composed{}))));
    if (!r && r.error().kind == error_kind::not_found)
      return std::nullopt;
    if (!r)
      return tl::unexpected(r.error());
    auto* interim = std::get_if<interim_composed>(&*r);
    return interim == nullptr ? std::nullopt : std::optional(std::move(interim->model));
  });
}

expected<std::vector<examination>> store::examinations() const {
  const auto& c = impl_->connected;
  return guarded(c, [&]() -> expected<std::vector<examination>> {
    auto r = impl_->find_record("select sequence from examinations where position = ? "
                                "order by sequence desc limit 1",
                                0);
    if (!r && r.error().kind == error_kind::not_found)
      return std::vector<examination>();
    if (!r)
      return tl::unexpected(r.error());
    auto* finished = std::get_if<run_finished>(&*r);
    if (finished == nullptr)
      return fail(error_kind::corrupt,
                  c.file.string() + ": another record in the place of the run's end");
    return std::move(finished->examinations);
  });
}

} // namespace clade
