// The errors that SQLite gives for damaged pages differ (SQLITE_CORRUPT, NOTADB, "no such
// table", IOERR): all of them are a fault of the file but those that speak of the machine
// (`is_of_machine`).
#include "engine/store/repair/damaged_rows.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>

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

} // namespace

std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

expected<std::string> read_damaged(const std::filesystem::path& file,
                                   const std::function<void()>& read) {
  try {
    read();
    return "";
  } catch (const SQLite::Exception& e) {
    if (is_of_machine(e))
      return store_failure(file, e);
    return fmt::format("cannot be read ({})", one_line(e.what()));
  }
}

expected<std::string> damaged_rows::next() {
  return read_damaged(from_.file, [&] {
    there_ = false;
    if (!statement_)
      statement_.emplace(from_.db, sql_);
    there_ = statement_->executeStep();
  });
}

} // namespace clade
