// Queries that pass over a whole table, or follow it from row to row: one statement each,
// and no more in memory than a row, unless the header says so.
#include "engine/store/run/rows.hpp"

#include "engine/run/records/record_kind.hpp"
#include "engine/store/run/store_impl.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace clade {

namespace {

std::optional<double> real(const SQLite::Column& c) {
  return c.isNull() ? std::nullopt : std::optional(c.getDouble());
}

std::string_view text(const SQLite::Column& c) {
  const auto b = bytes_of(c);
  return {b.data(), b.size()};
}

bytes copied(const SQLite::Column& c) {
  const auto b = bytes_of(c);
  return c.isNull() ? bytes() : bytes(b.begin(), b.end());
}

} // namespace

expected<void> store::hold() {
  auto& c = impl_->connected;
  return guarded(c, [&]() -> expected<void> {
    c.db.exec("begin");
    // The moment is that of the first answer.
    SQLite::Statement(c.db, "select records from progress").executeStep();
    return {};
  });
}

expected<void> store::for_each_evaluation(
    const std::function<void(const evaluation_row&)>& visit) const {
  const auto& c = impl_->connected;
  return guarded(c, [&]() -> expected<void> {
    SQLite::Statement row(c.db,
                          "select id, sequence, fitness, parameters, seconds, "
                          "equal_to is not null, reason from evaluations order by id");
    while (row.executeStep())
      visit({.id = natural(row.getColumn(0)),
             .sequence = natural(row.getColumn(1)),
             .fitness = real(row.getColumn(2)),
             .parameters = natural(row.getColumn(3)),
             .seconds = row.getColumn(4).getDouble(),
             .copied = row.getColumn(5).getInt() != 0,
             .reason = text(row.getColumn(6))});
    return {};
  });
}

expected<void>
store::for_each_child(const std::function<void(const child_row&)>& visit) const {
  const auto& c = impl_->connected;
  return guarded(c, [&]() -> expected<void> {
    SQLite::Statement row(
        c.db,
        "select b.payload, g.id, e.fitness, f.fitness from parents p "
        "join genomes g on g.id = p.child "
        "join records b on b.sequence = g.sequence join genomes m on m.id = p.parent "
        "join evaluations e on e.id = p.child "
        "left join evaluations f on f.id = case when m.epochs is g.epochs "
        "then p.parent else (with recursive line(id, start, epochs) as ("
        "select m.id, m.start, m.epochs union all "
        "select b.id, b.start, b.epochs from genomes b join line on b.id = "
        "line.start) select id from line where epochs is g.epochs limit 1) end "
        "where p.position = 0 order by p.child");
    while (row.executeStep()) {
      auto r = decode_record(bytes_of(row.getColumn(0)));
      auto* birth = r ? std::get_if<candidate_born>(&*r) : nullptr;
      if (birth == nullptr)
        return misplaced(c, natural(row.getColumn(1)));
      visit({.changes = std::move(birth->born.changes),
             .fitness = real(row.getColumn(2)),
             .parent_fitness = real(row.getColumn(3))});
    }
    return {};
  });
}

// Only the record says whether a candidate is a seed; seeds are in generation 0, without
// parents.
expected<void>
store::for_each_descent(const std::function<void(const descent_row&)>& visit) const {
  const auto& c = impl_->connected;
  return guarded(c, [&]() -> expected<void> {
    SQLite::Statement row(
        c.db,
        "select g.id, p.parent, e.fitness, g.network, b.payload, "
        "g.origin like 'trained to the end%' from genomes g "
        "left join parents p on p.child = g.id left join evaluations e on e.id = g.id "
        "left join records b on b.sequence = case when g.generation = 0 and "
        "p.parent is null then g.sequence end order by g.id, p.position");
    while (row.executeStep()) {
      descent_row found{.id = natural(row.getColumn(0)),
                        .parent = natural(row.getColumn(1)),
                        .fitness = real(row.getColumn(2)),
                        .network = text(row.getColumn(3)),
                        .seed = {},
                        .to_the_end = row.getColumn(5).getInt() != 0};
      if (!row.getColumn(4).isNull()) {
        const auto r = decode_record(bytes_of(row.getColumn(4)));
        const auto* birth = r ? std::get_if<candidate_born>(&*r) : nullptr;
        if (birth == nullptr)
          return misplaced(c, found.id);
        for (const auto& one : birth->born.changes)
          if (one.kind == change_kind::seeded)
            found.seed = one.name;
      }
      visit(found);
    }
    return {};
  });
}

expected<void>
store::for_each_work(const std::function<void(const work_row&)>& visit) const {
  const auto& c = impl_->connected;
  return guarded(c, [&]() -> expected<void> {
    SQLite::Statement row(c.db, "select e.slot, r.unix_ms, e.seconds from evaluations e "
                                "join records r using (sequence) "
                                "where e.equal_to is null order by e.id");
    while (row.executeStep())
      visit({.slot = text(row.getColumn(0)),
             .end_ms = row.getColumn(1).getInt64(),
             .seconds = row.getColumn(2).getDouble()});
    return {};
  });
}

expected<std::vector<failure_row>> store::failures(std::size_t most) const {
  const auto& c = impl_->connected;
  return guarded(c, [&]() -> expected<std::vector<failure_row>> {
    SQLite::Statement row(c.db,
                          "select outcome, reason, count(*), min(id) from evaluations "
                          "where outcome <> 'succeeded' or fitness is null "
                          "group by outcome, reason order by 3 desc, 4 limit ?");
    row.bind(1, as_signed(std::min<std::uint64_t>(most, INT64_MAX)));
    std::vector<failure_row> found;
    while (row.executeStep())
      found.push_back({.outcome = parse_outcome(text(row.getColumn(0))),
                       .reason = row.getColumn(1).getString(),
                       .count = natural(row.getColumn(2)),
                       .example = natural(row.getColumn(3))});
    return found;
  });
}

expected<std::vector<failure_row>> store::lost_attempts(std::size_t most) const {
  const auto& c = impl_->connected;
  return guarded(c, [&]() -> expected<std::vector<failure_row>> {
    SQLite::Statement row(c.db, "select reason, count(*), min(id) from attempts "
                                "group by reason order by 2 desc, 3 limit ?");
    row.bind(1, as_signed(std::min<std::uint64_t>(most, INT64_MAX)));
    std::vector<failure_row> found;
    while (row.executeStep())
      found.push_back({.outcome = {},
                       .reason = row.getColumn(0).getString(),
                       .count = natural(row.getColumn(1)),
                       .example = natural(row.getColumn(2))});
    return found;
  });
}

expected<std::int64_t> store::recorded_ms(std::uint64_t sequence) const {
  const auto& c = impl_->connected;
  return guarded(c, [&]() -> expected<std::int64_t> {
    SQLite::Statement row(c.db, "select unix_ms from records where sequence = ?");
    row.bind(1, as_signed(sequence));
    if (!row.executeStep())
      return fail(error_kind::corrupt,
                  fmt::format("{}: record {} is missing", c.file.string(), sequence));
    return row.getColumn(0).getInt64();
  });
}

expected<std::vector<candidate_records>> store::records_of(candidate_id first,
                                                           std::size_t count) const {
  const auto& c = impl_->connected;
  return guarded(c, [&]() -> expected<std::vector<candidate_records>> {
    SQLite::Statement row(
        c.db, "select g.id, g.generation, b.payload, r.payload from genomes g "
              "join records b on b.sequence = g.sequence "
              "left join evaluations e on e.id = g.id "
              "left join records r on r.sequence = e.sequence "
              "where g.id >= ? order by g.id limit ?");
    row.bind(1, as_signed(first));
    row.bind(2, as_signed(std::min<std::uint64_t>(count, INT64_MAX)));
    std::vector<candidate_records> found;
    while (row.executeStep())
      found.push_back({.id = natural(row.getColumn(0)),
                       .generation = natural(row.getColumn(1)),
                       .born = copied(row.getColumn(2)),
                       .evaluated = copied(row.getColumn(3))});
    return found;
  });
}

expected<std::vector<candidate_id>> store::ancestors(candidate_id id) const {
  const auto& c = impl_->connected;
  return guarded(c, [&]() -> expected<std::vector<candidate_id>> {
    SQLite::Statement row(c.db, "with recursive line(id) as (select parent from parents "
                                "where child = ?1 union select parent from line "
                                "join parents on child = line.id) "
                                "select id from line where id < ?1 order by id desc");
    row.bind(1, as_signed(id));
    std::vector<candidate_id> found;
    while (row.executeStep())
      found.push_back(natural(row.getColumn(0)));
    return found;
  });
}

expected<annotations> store::find_annotations() const {
  const auto& c = impl_->connected;
  return guarded(c, [&]() -> expected<annotations> {
    SQLite::Statement row(c.db, "select unix_ms, payload from records where kind = ? "
                                "order by sequence");
    row.bind(1, as_signed(kind_of(operator_command{})));
    annotations found;
    while (row.executeStep()) {
      const auto one = decode_record(bytes_of(row.getColumn(1)));
      if (!one)
        return tl::unexpected(one.error());
      if (const auto* told = std::get_if<operator_command>(&*one))
        annotate(found, *told, row.getColumn(0).getInt64());
    }
    return found;
  });
}

} // namespace clade
