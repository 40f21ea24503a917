// A store is examined by making it anew: its records, as far as their checksums hold, are
// taken into a fresh store, which derives the tables for queries; then table after table
// is compared, row by row.
//
// Everything is read in one transaction, so that a run may go on meanwhile. What SQLite
// makes of damaged pages differs (SQLITE_CORRUPT, NOTADB, "no such table", IOERR): all of
// it is a fault of the file but what speaks of the machine (`is_of_machine`).
#include "engine/store/survey.hpp"

#include "engine/store/log.hpp"
#include "engine/store/objective_table.hpp"
#include "engine/store/run_lock.hpp"
#include "engine/store/salvage_copy.hpp"
#include "engine/store/store_impl.hpp"
#include "genome/hash.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <bit>
#include <fstream>
#include <set>
#include <sstream>

namespace clade {

namespace {

bool is_of_machine(const SQLite::Exception& e) {
  switch (e.getErrorCode()) {
  case SQLITE_BUSY:
  case SQLITE_LOCKED:
  case SQLITE_CANTOPEN:
  case SQLITE_PERM:
  case SQLITE_READONLY:
  case SQLITE_NOMEM:
  case SQLITE_FULL:
    return true;
  default:
    return false;
  }
}

std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

/// Calls a function that reads a damaged file. Returns what keeps it from doing so, as a
/// part of a sentence; empty if nothing does.
template<class Function>
expected<std::string> reading(const std::filesystem::path& file, Function f) {
  try {
    f();
    return "";
  } catch (const SQLite::Exception& e) {
    if (is_of_machine(e))
      return store_failure(file, e);
    return "cannot be read (" + one_line(e.what()) + ")";
  }
}

std::string numbered(std::uint64_t sequence) {
  return "record " + std::to_string(sequence);
}

/// The rows of a query on a damaged file, one after the other.
class rows {
public:
  rows(const connection& c, std::string sql) : from_(c), sql_(std::move(sql)) {}

  /// Moves on. Returns what keeps it from doing so; at the end `there()` is false.
  expected<std::string> next() {
    return reading(from_.file, [&] {
      there_ = false;
      if (!statement_)
        statement_.emplace(from_.db, sql_);
      there_ = statement_->executeStep();
    });
  }
  [[nodiscard]] bool there() const { return there_; }
  [[nodiscard]] SQLite::Column at(int column) { return statement_->getColumn(column); }
  [[nodiscard]] int columns() const { return statement_->getColumnCount(); }

private:
  const connection& from_;
  std::string sql_;
  std::optional<SQLite::Statement> statement_;
  bool there_ = false;
};

bool is_record_row(rows& r) {
  constexpr std::array types{SQLITE_INTEGER, SQLITE_INTEGER, SQLITE_INTEGER, SQLITE_BLOB,
                             SQLITE_INTEGER};
  for (int i = 0; i < r.columns(); ++i)
    if (r.at(i).getType() != types.at(static_cast<std::size_t>(i)))
      return false;
  return true;
}

/// Copies the records that are whole, from the first on. Returns what is wrong with the
/// next, or nothing if there is none.
expected<std::string> copy_records(const connection& from, salvage_copy& to,
                                   std::uint64_t& whole) {
  rows all(from, "select sequence, unix_ms, kind, payload, checksum from records "
                 "order by sequence");
  std::uint64_t checksum = 0;
  for (whole = 0;;) {
    auto fault = all.next();
    if (!fault)
      return fault;
    const auto next = numbered(whole + 1) + " ";
    if (!fault->empty())
      return next + *fault;
    if (!all.there())
      return "";
    const stored_record row{.sequence = natural(all.at(0)),
                            .unix_ms = all.at(1).getInt64(),
                            .kind = all.at(2).getInt64(),
                            .payload = bytes_of(all.at(3)),
                            .checksum = natural(all.at(4))};
    if (row.sequence != whole + 1)
      return next + "is missing";
    checksum =
        chained_checksum(checksum, row.sequence, row.unix_ms, row.kind, row.payload);
    if (checksum != row.checksum || !is_record_row(all))
      return next + "does not match its checksum";
    const auto r = decode_record(row.payload);
    if (!r)
      return next + "cannot be read (" + r.error().message + ")";
    to.add(row, *r);
    whole = row.sequence;
  }
}

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
  rows is(stored, sql), should_be(derived, sql);
  for (std::uint64_t number = 1;; ++number) {
    auto fault = should_be.next();
    if (!fault)
      return fault;
    if (!fault->empty())
      return fail(error_kind::internal, "table " + table + ", derived anew, " + *fault);
    fault = is.next();
    if (!fault)
      return fault;
    if (!fault->empty())
      return "table " + table + " " + *fault;
    const auto place = "table " + table + ": row " + std::to_string(number);
    if (is.there() != should_be.there())
      return place + (is.there() ? " is one too many" : " is missing");
    if (!is.there())
      return "";
    if (is.columns() != should_be.columns())
      return "table " + table + " has other columns";
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
expected<std::string> compare_definition(const connection& stored, rows& defined) {
  const auto type = defined.at(0).getString(), name = defined.at(1).getString();
  rows is(stored, "select sql from sqlite_schema where type = '" + type + "' and name = '"
                      + name + "'");
  auto fault = is.next();
  if (!fault || !fault->empty())
    return fault;
  if (!is.there())
    return type + " " + name + " is missing";
  return bare_definition(is.at(0)) == bare_definition(defined.at(2))
             ? ""
             : type + " " + name + " is defined otherwise";
}

/// A store makes do without a picture, and passes over one that does not fit.
expected<std::string> picture_fault(const connection& stored) {
  rows kept(stored, "select p.checksum, p.bytes, p.record_checksum is r.checksum "
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

/// Compares the definitions, which people may have added to, and the tables.
constexpr const char* first_columns_of_genomes =
    "id, sequence, generation, place, network, nodes, edges, origin, equal_to, work";

expected<std::string> compare_tables(const connection& stored,
                                     const connection& derived) {
  const int version = stored.version();
  rows defined(derived, "select type, name, sql from sqlite_schema order by rowid");
  for (;;) {
    if (auto fault = defined.next(); !fault || !fault->empty() || !defined.there())
      return fault;
    const auto type = defined.at(0).getString(), name = defined.at(1).getString();
    const bool is_picture = name == "picture";
    if (is_picture && version < first_with_picture)
      continue;
    // Of the first schema, columns that came later are not there and not missed.
    const bool shorter = version < 2 && name == "genomes";
    auto fault =
        shorter ? expected<std::string>("") : compare_definition(stored, defined);
    if (fault && fault->empty() && is_picture)
      fault = picture_fault(stored);
    else if (fault && fault->empty() && type == "table" && name != "records"
             && name != "weights")
      fault = compare(stored, derived, name,
                      "select " + std::string(shorter ? first_columns_of_genomes : "*")
                          + " from " + name);
    if (!fault || !fault->empty())
      return fault;
  }
}

/// Notes what is in the file and not in a store. Returns the first trigger, if there is
/// one.
expected<std::string> find_additions(const connection& stored, const connection& derived,
                                     std::vector<std::string>& additions) {
  std::set<std::string> own;
  rows ours(derived, "select type || ' ' || name from sqlite_schema");
  for (;;) {
    if (auto fault = ours.next(); !fault || !fault->empty())
      return fault;
    if (!ours.there())
      break;
    own.insert(ours.at(0).getString());
  }
  std::string trigger;
  rows all(stored, "select type || ' ' || name, type, tbl_name from sqlite_schema "
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
      trigger = name + " on table " + all.at(2).getString() + " changes what is written";
  }
}

/// Tells the whole weights from the others, and copies them if the copy is to be kept.
expected<void> check_weights(const connection& from, salvage_copy& to, bool kept,
                             store_condition& found) {
  rows all(from, "select id, checksum, bytes from weights order by id");
  for (;;) {
    const auto fault = all.next();
    if (!fault)
      return tl::unexpected(fault.error());
    if (!fault->empty())
      found.weights_faults.push_back(
          "weights "
          + (found.weights.empty()
                 ? std::string()
                 : "behind those of #" + std::to_string(found.weights.back()) + " ")
          + *fault);
    if (!fault->empty() || !all.there())
      return {};
    const auto id = natural(all.at(0));
    const auto weights = bytes_of(all.at(2));
    const auto of = "the weights of #" + std::to_string(id);
    const auto hash = to.weights_hash(id);
    if (!hash) {
      found.weights_faults.push_back(of + " have no evaluation that is whole");
    } else if (hash64(weights) != natural(all.at(1)) || *hash != natural(all.at(1))
               || all.at(1).getType() != SQLITE_INTEGER
               || all.at(2).getType() != SQLITE_BLOB) {
      found.weights_faults.push_back(of + " do not match their checksum");
    } else {
      found.weights.push_back(id);
      if (kept)
        to.add_weights(id, weights);
    }
  }
}

/// Tells the whole ones of the weights that lie beside the store, where they stay. Those
/// without an evaluation came just before the process was killed, and are no damage.
void check_large_weights(const std::filesystem::path& file, salvage_copy& to,
                         store_condition& found) {
  const blob_folder large(file.parent_path() / weights_folder_name);
  for (const auto id : large.ids()) {
    const auto weights = large.read(id);
    const auto hash = to.weights_hash(id);
    if (hash && !weights.empty() && *hash == weights.checksum())
      found.weights.push_back(id);
    else if (hash)
      found.weights_faults.push_back("the weights of #" + std::to_string(id)
                                     + " do not match their checksum");
  }
}

/// Of the first 100 bytes. An error is no damage.
expected<std::string> header_fault(const std::filesystem::path& file) {
  const auto checked = check_header(file);
  if (!checked && checked.error().kind != error_kind::corrupt)
    return tl::unexpected(checked.error());
  if (!checked)
    return "its header is not that of a run's store";
  // Bytes 18 and 19 say 2 where there is a log. With another number SQLite would
  // overlook it.
  std::array<char, 20> header{};
  std::ifstream in(file, std::ios::binary);
  if (!in.read(header.data(), header.size()))
    return fail(error_kind::io, file.string() + ": cannot be read");
  if (header[18] != 2 || header[19] != 2)
    return "its header denies the log";
  // What is cut off of the last page may be an empty part of it.
  const auto page = static_cast<unsigned char>(header[16]) << 8
                    | static_cast<unsigned char>(header[17]);
  std::error_code failed;
  const auto size = std::filesystem::file_size(file, failed);
  if (failed)
    return fail(error_kind::io, file.string() + ": cannot be read: " + failed.message());
  return page > 1 && size % static_cast<std::uintmax_t>(page) != 0
             ? "its last page is cut off"
             : "";
}

expected<std::string> integrity_fault(const connection& c) {
  rows checked(c, "pragma integrity_check(1)");
  auto fault = checked.next();
  if (!fault || !fault->empty())
    return fault;
  const auto said = checked.there() ? checked.at(0).getString() : "nothing is said";
  return said == "ok" ? "" : one_line(said);
}

expected<std::string> log_fault(const std::filesystem::path& file) {
  return examine_log(file).map([&](const log_condition& log) -> std::string {
    if (!log.damaged())
      return "";
    return std::to_string(log.left_out) + " transactions at the end of "
           + file.filename().string() + "-wal "
           + (log.first_bad_frame == 0
                  ? "have no header that matches its checksum"
                  : "begin with frame " + std::to_string(log.first_bad_frame)
                        + ", which does not match its checksum");
  });
}

/// The objective as the tables have it; the default if they cannot be read.
expected<objective> objective_table(const connection& c) {
  rows run(c, "select metric, maximize from runs");
  return run.next().map([&](const std::string& fault) {
    if (!fault.empty() || !run.there())
      return objective{};
    const objective first{.metric = run.at(0).getString(),
                          .maximize = run.at(1).getInt64() != 0};
    try {
      return read_goal(c.db);
    } catch (const SQLite::Exception&) {
      return first; // The rest of it is damaged; the first record says it, where it can.
    }
  });
}

expected<void> survey_content(const survey_params& params, const connection& from,
                              store_condition& found) {
  const auto goal = objective_table(from);
  if (!goal)
    return tl::unexpected(goal.error());
  rows progress(from, "select records from progress");
  if (const auto fault = progress.next(); !fault)
    return tl::unexpected(fault.error());
  if (progress.there())
    found.written = natural(progress.at(0));
  salvage_copy copy(params.make_copy(), params.goal_of, *goal);
  auto fault = copy_records(from, copy, found.records);
  if (!fault)
    return tl::unexpected(fault.error());
  found.record_fault = std::move(*fault);
  if (found.record_fault.empty() && found.written > found.records)
    found.record_fault = numbered(found.records + 1) + " is missing";
  copy.complete_tables();
  if (found.record_fault.empty()) {
    fault = compare_tables(from, copy.target());
    if (!fault)
      return tl::unexpected(fault.error());
    found.table_fault = std::move(*fault);
  }
  fault = find_additions(from, copy.target(), found.additions);
  if (!fault)
    return tl::unexpected(fault.error());
  if (found.table_fault.empty())
    found.table_fault = std::move(*fault);
  if (auto ok = check_weights(from, copy, params.keep_copy, found); !ok)
    return ok;
  check_large_weights(params.file, copy, found);
  if (params.keep_copy)
    copy.close();
  return {};
}

} // namespace

expected<store_condition> survey(const survey_params& params) {
  const auto& file = params.file;
  store_condition found;
  auto fault = header_fault(file);
  if (!fault)
    return tl::unexpected(fault.error());
  found.file_fault = std::move(*fault);
  if (params.locked || !writer_of(file)) {
    fault = log_fault(file);
    if (!fault)
      return tl::unexpected(fault.error());
    found.log_fault = std::move(*fault);
  }
  std::optional<connection> from;
  const auto opens = [&](connection (*open)(const std::filesystem::path&)) {
    return reading(file, [&] {
      from.emplace(open(file));
      from->db.exec("begin");
    });
  };
  fault = opens(connection::open_to_read);
  if (fault && !fault->empty()) {
    if (found.file_fault.empty())
      found.file_fault = "it " + *fault;
    fault = opens(connection::open_damaged);
  }
  if (!fault)
    return tl::unexpected(fault.error());
  if (!fault->empty()) {
    found.record_fault = numbered(1) + " " + *fault;
    return found;
  }
  try {
    if (auto ok = survey_content(params, *from, found); !ok)
      return tl::unexpected(ok.error());
  } catch (const SQLite::Exception& e) {
    return fail_in("while its records were copied", store_failure(file, e).value());
  } catch (const error& e) {
    return fail_in(file.string() + ": while its records were copied", e);
  }
  // Last, since it is the longest and what was found before says more.
  fault = integrity_fault(*from);
  if (!fault)
    return tl::unexpected(fault.error());
  if (found.file_fault.empty())
    found.file_fault = std::move(*fault);
  return found;
}

} // namespace clade
