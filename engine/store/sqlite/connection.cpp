// How SQLite is set up, and what its errors mean to a person.
//
// The tables are made in one transaction before the file is switched to WAL, so that its
// header says what it is from the first moment that it is there, and can be judged by
// reading 100 bytes (https://sqlite.org/fileformat.html): "SQLite format 3\0" at 0,
// user_version (our schema version) at 60 and application_id at 68, both big-endian.
//
// A commit appends to the WAL and syncs it (synchronous=FULL); each time it has grown by
// `checkpoint_pages`, what it holds goes to the file. Memory is that of the page cache.
#include "engine/store/sqlite/connection.hpp"

#include "engine/store/sqlite/objective_table.hpp"
#include "engine/store/sqlite/run_folder.hpp"
#include "engine/store/sqlite/schema.hpp"
#include "engine/store/sqlite/store_file.hpp"

#include <fmt/format.h>
#include <sqlite3.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>

namespace clade {

namespace {

constexpr int busy_ms = 10'000;
/// SQLite opens paths below 512 bytes (SQLITE_MAX_PATHNAME), and "-journal" must fit too.
constexpr std::size_t longest_path = 503;
constexpr const char* settings = "pragma synchronous = full;"
                                 "pragma secure_delete = off;"
                                 "pragma temp_store = memory;"
                                 "pragma cache_size = -16384;"
                                 "pragma wal_autocheckpoint = 4000;"
                                 "pragma journal_size_limit = 33554432;";

std::uint32_t big_endian(const char* bytes) {
  std::uint32_t n = 0;
  for (int i = 0; i < 4; ++i)
    n = n << 8 | static_cast<unsigned char>(bytes[i]);
  return n;
}

/// The path as SQLite's URI, which alone can say "immutable".
std::string immutable_uri(const std::filesystem::path& file) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string uri = "file:";
  for (const char c : std::filesystem::absolute(file).string()) {
    if (c == '%' || c == '?' || c == '#') {
      const auto code = static_cast<unsigned char>(c);
      uri += '%';
      uri += digits[code >> 4];
      uri += digits[code & 15];
    } else {
      uri += c;
    }
  }
  return uri + "?immutable=1";
}

void remove_files(const std::filesystem::path& file) {
  // A file that cannot be removed stays; the caller reports why the file could not be
  // made.
  std::error_code ignored;
  for (const char* suffix : {"", "-journal", "-wal", "-shm"}) {
    auto one = file;
    one += suffix;
    std::filesystem::remove(one, ignored);
  }
}

/// Readable at all? Opening is lazy in SQLite.
void touch(SQLite::Database& db) {
  SQLite::Statement(db, "select count(*) from sqlite_schema").executeStep();
}

void make_run_tables(SQLite::Database& db, const objective& goal) {
  SQLite::Transaction all(db);
  db.exec(fmt::format("pragma application_id = {}; pragma user_version = {}",
                      store_application_id, run_schema_version));
  db.exec(schema_sql);
  db.exec("insert into runs (run, metric, maximize) values (1, '', 0)");
  write_goal(db, goal);
  db.exec(
      "insert into progress values (1, 0, 0, 'created', '', 0, 0, 0, 0, 0, null, null, "
      "null)");
  all.commit();
}

} // namespace

connection connection::make(const std::filesystem::path& file,
                            const std::function<void(SQLite::Database&)>& make_tables,
                            const store_advice& advice) {
  make_for_owner_alone(file);
  try {
    connection made{file,
                    SQLite::Database(file.string(), SQLite::OPEN_READWRITE
                                                        | SQLite::OPEN_CREATE
                                                        | SQLite::OPEN_NOMUTEX),
                    advice};
    made.db.setBusyTimeout(busy_ms);
    made.db.exec("pragma page_size = 4096");
    make_tables(made.db);
    made.db.exec("pragma journal_mode = wal");
    made.db.exec(settings);
    return made;
  } catch (const SQLite::Exception&) {
    remove_files(file);
    throw;
  }
}

connection connection::make(const std::filesystem::path& file, const objective& goal) {
  return make(file, [&](SQLite::Database& db) { make_run_tables(db, goal); },
              {.fresh = true});
}

connection connection::make_temporary(const std::filesystem::path& file,
                                      const objective& goal) {
  connection made{file, SQLite::Database("", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE
                                                 | SQLite::OPEN_NOMUTEX)};
  made.db.exec("pragma page_size = 4096; pragma journal_mode = off;"
               "pragma synchronous = off");
  make_run_tables(made.db, goal);
  return made;
}

connection connection::open(const std::filesystem::path& file) {
  connection opened{file, SQLite::Database(file.string(),
                                           SQLite::OPEN_READWRITE | SQLite::OPEN_NOMUTEX,
                                           busy_ms)};
  opened.db.exec(settings);
  touch(opened.db);
  return opened;
}

namespace {

/// Gives a store of an earlier schema the columns that queries know, without a value, for
/// this connection alone.
void look_newer(connection& c) {
  if (c.version() < 2)
    c.db.exec("create temp view genomes as "
              "select *, null as epochs, null as start from main.genomes");
}

} // namespace

connection connection::open_to_read(const std::filesystem::path& file) {
  const int flags = SQLite::OPEN_READONLY | SQLite::OPEN_NOMUTEX;
  try {
    connection opened{file, SQLite::Database(file.string(), flags, busy_ms)};
    touch(opened.db);
    look_newer(opened);
    return opened;
  } catch (const SQLite::Exception& e) {
    // A WAL needs files beside the store, which a folder that may not be written to
    // refuses. If there is no WAL, nobody writes, and the store may be taken as it lies
    // there.
    auto wal = file;
    wal += "-wal";
    const auto code = e.getErrorCode();
    if ((code != SQLITE_CANTOPEN && code != SQLITE_READONLY)
        || std::filesystem::exists(wal))
      throw;
    connection opened{
        file, SQLite::Database(immutable_uri(file), flags | SQLite::OPEN_URI, busy_ms)};
    touch(opened.db);
    look_newer(opened);
    return opened;
  }
}

connection connection::open_damaged(const std::filesystem::path& file) {
  connection opened{file, SQLite::Database(file.string(),
                                           SQLite::OPEN_READONLY | SQLite::OPEN_NOMUTEX,
                                           busy_ms)};
  // Nothing is written; but so SQLite reads a file that is shorter than its header says,
  // and passes over definitions that it cannot read.
  opened.db.exec("pragma writable_schema = on");
  touch(opened.db);
  return opened;
}

bool connection::in_transaction() const {
  return sqlite3_get_autocommit(db.getHandle()) == 0;
}

int connection::version() const {
  SQLite::Statement said(db, "pragma user_version");
  said.executeStep();
  return said.getColumn(0).getInt();
}

tl::unexpected<error> connection::failure(const SQLite::Exception& e) const {
  return store_failure(file, e, sqlite3_system_errno(db.getHandle()), advice);
}

tl::unexpected<error> store_failure(const std::filesystem::path& file,
                                    const SQLite::Exception& e, int system_error,
                                    const store_advice& advice) {
  const auto place = file.string() + ": ";
  const auto cause = system_error != 0 ? std::string(std::strerror(system_error))
                                       : std::string(e.getErrorStr());
  const auto go_on =
      advice.go_on.empty() ? "clade resume " + file.parent_path().string() : advice.go_on;
  const auto resume =
      advice.fresh ? std::string(", then start it again") : ", then: " + go_on;
  switch (e.getErrorCode()) {
  case SQLITE_FULL:
    return fail(error_kind::io,
                place
                    + (advice.fresh
                           ? "disk full: nothing is recorded yet; free some room"
                           : "disk full: what was not on it yet is not recorded; "
                             "free some room")
                    + resume);
  case SQLITE_IOERR:
    if (system_error == EFBIG)
      return fail(error_kind::io, fmt::format("{}the file may not grow beyond its limit "
                                              "({}); raise the limit (ulimit -f){}",
                                              place, cause, resume));
    if (system_error == ENOSPC || system_error == EDQUOT)
      return fail(error_kind::io, fmt::format("{}disk full ({}); free some room{}", place,
                                              cause, resume));
    return fail(error_kind::io,
                fmt::format("{}the disk does not answer as it should ({}); mend that{}",
                            place, cause, resume));
  case SQLITE_CORRUPT:
  case SQLITE_NOTADB:
    return fail(error_kind::corrupt,
                fmt::format("{}the file is damaged ({}); {}", place, e.what(),
                            advice.damaged.empty()
                                ? check_command(file) + " says what is whole"
                                : advice.damaged));
  case SQLITE_BUSY:
  case SQLITE_LOCKED:
    return fail(error_kind::conflict,
                place + "another program is writing to it; end that");
  case SQLITE_CANTOPEN:
    if (std::filesystem::absolute(file).native().size() > longest_path)
      return fail(error_kind::invalid_input,
                  fmt::format("{}the path is longer than the {} bytes that SQLite takes; "
                              "keep the run in a folder with a shorter path",
                              place, longest_path));
    [[fallthrough]];
  case SQLITE_PERM:
  case SQLITE_READONLY:
    return fail(error_kind::io, fmt::format("{}cannot be opened ({})", place, cause));
  case SQLITE_NOMEM:
    return fail(error_kind::io, place + "no memory left");
  default:
    return fail(error_kind::internal, place + e.what());
  }
}

expected<void> check_header(const std::filesystem::path& file) {
  const auto place = file.string();
  std::error_code failed;
  const auto status = std::filesystem::status(file, failed);
  if (status.type() == std::filesystem::file_type::not_found)
    return fail(error_kind::not_found, place + ": no such file");
  if (!failed && status.type() != std::filesystem::file_type::regular)
    return fail(error_kind::corrupt, place + ": not a file that holds a run");
  std::ifstream in(file, std::ios::binary);
  std::array<char, 100> header{};
  in.read(header.data(), header.size());
  if (!in && !in.eof())
    return fail(error_kind::io,
                fmt::format("{}: cannot be read: {}", place, std::strerror(errno)));
  if (in.gcount() == 0)
    return fail(error_kind::corrupt,
                place + ": the file is empty; nothing of a run is in it");
  constexpr std::string_view magic("SQLite format 3", 16);
  if (in.gcount() < static_cast<std::streamsize>(header.size())
      || std::string_view(header.data(), magic.size()) != magic)
    return fail(
        error_kind::corrupt,
        fmt::format(
            "{}: not a run's store (no SQLite file), or damaged; {} says what is whole",
            place, check_command(file)));
  const auto application = big_endian(&header[68]);
  if (application != static_cast<std::uint32_t>(store_application_id))
    return fail(error_kind::corrupt,
                fmt::format("{}: not a run's store (an SQLite file of another program), "
                            "or damaged; {} says what is whole",
                            place, check_command(file)));
  const auto version = big_endian(&header[60]);
  if (version > static_cast<std::uint32_t>(run_schema_version))
    return fail(error_kind::conflict,
                fmt::format("{}: written by a newer clade (schema {}; this one knows "
                            "{}); use that version",
                            place, version, run_schema_version));
  if (version == 0)
    return fail(
        error_kind::corrupt,
        fmt::format("{}: has no schema version that ever was; {} says what is whole",
                    place, check_command(file)));
  return {};
}

} // namespace clade
