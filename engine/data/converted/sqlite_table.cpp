// The database is read from memory: nothing is locked or written, and a file that was
// packed is read too. No statement of the file's runs but those that its generated columns
// are made of; each value and the whole text are bounded.

#include "engine/data/bytes/in_quotes.hpp"
#include "engine/data/bytes/named_choice.hpp"
#include "engine/data/converted/table_readers.hpp"
#include "engine/data/converted/table_text.hpp"

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>

namespace clade {
namespace {

constexpr int longest_value = 16 << 20;

tl::unexpected<error> wrong(std::string message) {
  return fail(error_kind::invalid_input, std::move(message));
}

/// A database in memory. The bytes outlive it.
SQLite::Database open(std::string& bytes) {
  // A database that was written ahead says so in two bytes, and would want its log.
  constexpr std::size_t write_version = 18, read_version = 19;
  if (bytes.size() > read_version)
    bytes[write_version] = bytes[read_version] = 1;
  SQLite::Database db(":memory:", SQLite::OPEN_READWRITE);
  sqlite3* handle = db.getHandle();
  const auto size = static_cast<sqlite3_int64>(bytes.size());
  sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, longest_value);
  if (sqlite3_deserialize(handle, "main", reinterpret_cast<unsigned char*>(bytes.data()),
                          size, size, SQLITE_DESERIALIZE_READONLY)
      != SQLITE_OK)
    throw SQLite::Exception(handle);
  return db;
}

/// Views and virtual tables have no pages of their own.
std::vector<std::string> tables_of(SQLite::Database& db) {
  SQLite::Statement query(db, "select name from sqlite_master where type = 'table' and "
                              "rootpage > 0 and name not like 'sqlite\\_%' escape '\\' "
                              "order by rowid limit 10000");
  std::vector<std::string> names;
  while (query.executeStep())
    names.push_back(query.getColumn(0).getString());
  return names;
}

expected<std::string> choose(const std::vector<std::string>& names,
                             const table_choice& which) {
  if (names.empty())
    return wrong("is a database without a table; a view is read when a table is made of "
                 "it: create table NAME as select * from VIEW");
  return choose_one(names, which.name, {"table", which.key});
}

/// The name of a table within a statement.
std::string quoted_name(const std::string& name) {
  std::string out = "\"";
  for (const char c : name)
    out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

/// Writes a table's rows, and gathers what is known of its columns.
class row_writer {
public:
  row_writer(SQLite::Statement& query, const table_choice& which)
      : query_(query),
        out_(which.most_bytes),
        bytes_(static_cast<std::size_t>(query.getColumnCount())) {}

  expected<converted_table> write() {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < bytes_.size(); ++i)
      names.emplace_back(query_.getColumnName(static_cast<int>(i)));
    auto written = out_.names(names);
    while (written && query_.executeStep()) {
      for (std::size_t i = 0; i < bytes_.size(); ++i)
        write_value(i);
      written = out_.end_row();
    }
    if (!written)
      return tl::unexpected(std::move(written).error());
    converted_table table;
    table.facts = {.kind = "SQLite", .several = true, .texts = texts_.of(bytes_.size())};
    for (std::size_t i = 0; i < bytes_.size(); ++i)
      if (bytes_[i])
        table.facts.notes.push_back(
            fmt::format("{} holds bytes (BLOB), which are not learnt from; they are left "
                        "out",
                        in_quotes(names[i])));
    table.text = out_.take();
    return table;
  }

private:
  void write_value(std::size_t i) {
    const auto value = query_.getColumn(static_cast<int>(i));
    switch (value.getType()) {
    case SQLITE_INTEGER:
      texts_.add_other(i);
      return out_.field(std::int64_t{value.getInt64()});
    case SQLITE_FLOAT:
      texts_.add_other(i);
      return out_.field(value.getDouble());
    case SQLITE_TEXT: {
      const std::string_view text(value.getText(),
                                  static_cast<std::size_t>(value.getBytes()));
      texts_.add_text(i, text);
      return out_.field(text);
    }
    case SQLITE_BLOB:
      bytes_[i] = true;
      break;
    default:
      break;
    }
    out_.blank();
  }

  SQLite::Statement& query_;
  table_text out_;
  text_columns texts_;
  std::vector<bool> bytes_; ///< By column, whether it has a BLOB.
};

} // namespace

expected<converted_table> read_sqlite_table(std::string_view bytes,
                                            const table_choice& which) {
  try {
    std::string own(bytes);
    auto db = open(own);
    const auto name = choose(tables_of(db), which);
    if (!name)
      return tl::unexpected(name.error());
    SQLite::Statement query(db, "select * from " + quoted_name(*name));
    return row_writer(query, which).write();
  } catch (const SQLite::Exception& e) {
    return wrong(fmt::format("is an SQLite database that cannot be read ({}); `sqlite3 "
                             "FILE \"pragma integrity_check\"` says more",
                             e.what()));
  }
}

expected<void> check_sqlite_journal(const std::filesystem::path& file) {
  for (const char* ending : {"-wal", "-journal"}) {
    auto beside = file;
    beside += ending;
    std::error_code none;
    if (const auto size = std::filesystem::file_size(beside, none); !none && size > 0)
      return wrong(fmt::format("has changes in {} that are not in it yet; close the "
                               "program that writes it, or say sqlite3 {} \"pragma "
                               "wal_checkpoint(truncate)\"",
                               beside.string(), file.string()));
  }
  return {};
}

} // namespace clade
