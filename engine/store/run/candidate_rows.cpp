// Candidates by the hundred thousand, with all that tables and charts show of them: what
// the tables lack (hyperparameters, metrics as numbers) is read from the records, without
// their checksums.
#include "engine/store/run/store_impl.hpp"
#include "engine/store/sqlite/objective_table.hpp"
#include "engine/store/sqlite/run_folder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace clade {

namespace {

constexpr const char* select_rows =
    "select b.payload, b.sequence, b.unix_ms, e.payload, e.sequence, e.unix_ms "
    "from genomes g join records b on b.sequence = g.sequence "
    "left join evaluations v on v.id = g.id left join records e "
    "on e.sequence = v.sequence where g.id > ? order by g.id limit ?";

void fill(candidate_row& row, const candidate& c) {
  row.line.id = c.id;
  row.line.generation = c.generation;
  row.line.origin = to_text(c.changes);
  row.index = c.index;
  row.parents = c.parents;
  row.equal_to = c.equal_to;
  row.nodes = c.genome->nodes.size();
  row.operators = count_operators(*c.genome);
  row.hyperparameters = c.genome->hyperparameters;
}

template<class Kind>
const Kind* find_kind(const expected<record>& r) {
  return r ? std::get_if<Kind>(&*r) : nullptr;
}

tl::unexpected<error> not_whole(std::uint64_t sequence) {
  return fail(error_kind::corrupt,
              fmt::format("record {} is not of the kind it should be", sequence));
}

expected<candidate_row> read_row(SQLite::Statement& found, const objective& goal) {
  candidate_row row;
  const auto born = decode_record(bytes_of(found.getColumn(0)));
  const auto* b = find_kind<candidate_born>(born);
  if (b == nullptr || !b->born.genome)
    return not_whole(natural(found.getColumn(1)));
  fill(row, b->born);
  row.born_sequence = natural(found.getColumn(1));
  row.line.born_ms = found.getColumn(2).getInt64();
  if (found.getColumn(4).isNull())
    return row;
  row.evaluated_sequence = natural(found.getColumn(4));
  const auto evaluated = decode_record(bytes_of(found.getColumn(3)));
  const auto* e = find_kind<candidate_evaluated>(evaluated);
  if (e == nullptr)
    return not_whole(row.evaluated_sequence);
  settle(row.line, e->evaluated, goal, found.getColumn(5).getInt64());
  row.metrics = e->evaluated.metrics;
  return row;
}

} // namespace

std::vector<setting> count_operators(const genome& g) {
  std::map<std::string, std::int64_t> counts;
  for (const auto id : topological_order(g))
    if (id != input_innovation && id != output_innovation)
      ++counts[find_node(g, id)->op];
  std::vector<setting> counted;
  for (auto& [op, count] : counts)
    counted.push_back({.name = op, .value = count});
  return counted;
}

void settle(candidate_line& line, const evaluation& e, const objective& goal,
            std::int64_t unix_ms) {
  line.evaluated_ms = unix_ms;
  line.outcome = e.outcome;
  line.rank = fitness_of(e, goal);
  if (line.rank.ok)
    line.fitness = goal.maximize ? line.rank.primary : -line.rank.primary;
  line.parameters = e.parameters;
  line.seconds = e.seconds;
  line.slot = e.slot;
  line.reason = e.reason;
}

expected<std::vector<candidate_row>> store::rows(candidate_id after,
                                                 std::size_t count) const {
  auto& c = impl_->connected;
  return guarded(c, [&]() -> expected<std::vector<candidate_row>> {
    const auto goal = read_goal(c.db);
    SQLite::Statement found(c.db, select_rows);
    found.bind(1, as_signed(after));
    found.bind(2, as_signed(std::min<std::uint64_t>(count, 1U << 30)));
    std::vector<candidate_row> rows;
    while (found.executeStep()) {
      auto row = read_row(found, goal);
      if (!row)
        return fail(error_kind::corrupt,
                    fmt::format("{}: {}: the file is damaged; {} says what is whole",
                                c.file.string(), row.error().message,
                                check_command(c.file)));
      rows.push_back(std::move(*row));
    }
    return rows;
  });
}

} // namespace clade
