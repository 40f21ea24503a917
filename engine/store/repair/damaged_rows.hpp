#pragma once

#include "engine/store/sqlite/connection.hpp"

#include <functional>
#include <optional>
#include <string>

namespace clade {

/// Calls a function that reads a damaged file. Returns what keeps it from doing so, as a
/// part of a sentence; empty if nothing does. An error is the machine's and not the
/// file's.
[[nodiscard]] expected<std::string> read_damaged(const std::filesystem::path& file,
                                                 const std::function<void()>& read);

[[nodiscard]] std::string one_line(std::string text);

/// The rows of a query on a damaged file, one after the other.
class damaged_rows {
public:
  damaged_rows(const connection& c, std::string sql) : from_(c), sql_(std::move(sql)) {}

  /// Moves on. Returns what keeps it from doing so; at the end `there()` is false.
  [[nodiscard]] expected<std::string> next();
  [[nodiscard]] bool there() const { return there_; }
  [[nodiscard]] SQLite::Column at(int column) { return statement_->getColumn(column); }
  [[nodiscard]] int columns() const { return statement_->getColumnCount(); }

private:
  const connection& from_;
  std::string sql_;
  std::optional<SQLite::Statement> statement_;
  bool there_ = false;
};

} // namespace clade
