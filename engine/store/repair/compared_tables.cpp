#include "engine/store/repair/compared_tables.hpp"

#include "engine/store/repair/damaged_rows.hpp"
#include "engine/store/run/store_impl.hpp"
#include "genome/genes/hash.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <bit>
#include <set>
#include <sstream>

namespace clade {

namespace {

bool equal(const SQLite::Column& a, const SQLite::Column& b) {
  if (a.getType() != b.getType())
    return false;
  switch (a.getType()) {
  case SQLITE_INTEGER:
    return a.getInt64() == b.getInt64();
  case SQLITE_FLOAT:
    return std::bit_cast<std::uint64_t>(a.getDouble())
           == std::bit_cast<std::uint64_t>(b.getDouble());
  case SQLITE_NULL:
    return true;
  default:
    return std::ranges::equal(bytes_of(a), bytes_of(b));
  }
}

/// Compares what a query gives. Returns where the stored rows differ, if they do.
expected<std::string> compare(const connection& stored, const connection& derived,
                              const std::string& table, const std::string& sql) {
  damaged_rows is(stored, sql), should_be(derived, sql);
  for (std::uint64_t number = 1;; ++number) {
    auto fault = should_be.next();
    if (!fault)
      return fault;
    if (!fault->empty())
      return fail(error_kind::internal,
                  fmt::format("table {}, derived anew, {}", table, *fault));
    fault = is.next();
    if (!fault)
      return fault;
    if (!fault->empty())
      return fmt::format("table {} {}", table, *fault);
    const auto place = fmt::format("table {}: row {}", table, number);
    if (is.there() != should_be.there())
      return place + (is.there() ? " is one too many" : " is missing");
    if (!is.there())
      return "";
    if (is.columns() != should_be.columns())
      return fmt::format("table {} has other columns", table);
    for (int i = 0; i < is.columns(); ++i)
      if (!equal(is.at(i), should_be.at(i)))
        return place + " is not what the records say";
  }
}

/// A definition without its comments and blanks, which change from version to version,
/// and where a column was added later.
std::string bare_definition(const SQLite::Column& sql) {
  std::istringstream in(sql.getString());
  std::string lines;
  for (std::string line; std::getline(in, line);) {
    line.erase(std::min(line.find("--"), line.size()));
    std::erase(line, ' ');
    lines += line;
  }
  return lines;
}

/// Compares what defines a table, an index or a view.
expected<std::string> compare_definition(const connection& stored,
                                         damaged_rows& defined) {
  const auto type = defined.at(0).getString(), name = defined.at(1).getString();
  damaged_rows is(
      stored,
      fmt::format("select sql from sqlite_schema where type = '{}' and name = '{}'", type,
                  name));
  auto fault = is.next();
  if (!fault || !fault->empty())
    return fault;
  if (!is.there())
    return fmt::format("{} {} is missing", type, name);
  return bare_definition(is.at(0)) == bare_definition(defined.at(2))
             ? ""
             : fmt::format("{} {} is defined otherwise", type, name);
}

/// A store makes do without a picture, and passes over one that does not fit.
expected<std::string> picture_fault(const connection& stored) {
  damaged_rows kept(stored,
                    "select p.checksum, p.bytes, p.record_checksum is r.checksum "
                    "from picture p left join records r on r.sequence = p.sequence");
  auto fault = kept.next();
  if (!fault || (fault->empty() && !kept.there()))
    return fault;
  if (!fault->empty())
    return "table picture " + *fault;
  if (kept.at(2).getInt() == 0)
    return "the picture for views is not of these records";
  return hash64(bytes_of(kept.at(1))) == natural(kept.at(0))
             ? ""
             : "the picture for views does not match its checksum";
}

constexpr const char* first_columns_of_genomes =
    "id, sequence, generation, place, network, nodes, edges, origin, equal_to, work";

} // namespace

expected<std::string> compare_tables(const connection& stored,
                                     const connection& derived) {
  const int version = stored.version();
  damaged_rows defined(derived,
                       "select type, name, sql from sqlite_schema order by rowid");
  for (;;) {
    if (auto fault = defined.next(); !fault || !fault->empty() || !defined.there())
      return fault;
    const auto type = defined.at(0).getString(), name = defined.at(1).getString();
    const bool is_picture = name == "picture";
    if (is_picture && version < first_with_picture)
      continue;
    // In the first schema, columns that came later are not there and not missed.
    const bool shorter = version < 2 && name == "genomes";
    auto fault =
        shorter ? expected<std::string>("") : compare_definition(stored, defined);
    if (fault && fault->empty() && is_picture)
      fault = picture_fault(stored);
    else if (fault && fault->empty() && type == "table" && name != "records"
             && name != "weights")
      fault = compare(stored, derived, name,
                      fmt::format("select {} from {}",
                                  shorter ? first_columns_of_genomes : "*", name));
    if (!fault || !fault->empty())
      return fault;
  }
}

expected<std::string> find_additions(const connection& stored, const connection& derived,
                                     std::vector<std::string>& additions) {
  std::set<std::string> own;
  damaged_rows ours(derived, "select type || ' ' || name from sqlite_schema");
  for (;;) {
    if (auto fault = ours.next(); !fault || !fault->empty())
      return fault;
    if (!ours.there())
      break;
    own.insert(ours.at(0).getString());
  }
  std::string trigger;
  damaged_rows all(stored,
                   "select type || ' ' || name, type, tbl_name from sqlite_schema "
                   "where name not glob 'sqlite_*' order by rowid");
  for (;;) {
    if (auto fault = all.next(); !fault || !fault->empty())
      return fault;
    if (!all.there())
      return trigger;
    const auto name = one_line(all.at(0).getString());
    if (own.contains(name))
      continue;
    additions.push_back(name);
    if (all.at(1).getString() == "trigger" && trigger.empty())
      trigger = fmt::format("{} on table {} changes what is written", name,
                            all.at(2).getString());
  }
}

} // namespace clade
