#pragma once

#include "engine/search/core/candidate.hpp"
#include "genome/base/error.hpp"

#include <SQLiteCpp/SQLiteCpp.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>

namespace clade {

/// The advice that a person gets about a file that failed.
struct store_advice {
  /// Nothing is recorded in it that could be gone on with.
  bool fresh = false;
  /// The command that goes on with it; empty: `clade resume` of the file's folder.
  std::string go_on = {};
  /// The remedy if it is damaged; empty: `clade check` of the file.
  std::string damaged = {};
};

/// An open SQLite file. Its own functions, and SQLite::Statement's, throw
/// SQLite::Exception; `guarded` is where that ends.
struct connection {
  std::filesystem::path file;
  SQLite::Database db;
  store_advice advice = {};

  /// Makes the file with the tables that `make_tables` makes; whole or, after an error,
  /// not at all. Throws.
  [[nodiscard]] static connection
  make(const std::filesystem::path& file,
       const std::function<void(SQLite::Database&)>& make_tables,
       const store_advice& advice);
  /// The same with the tables of a run.
  [[nodiscard]] static connection make(const std::filesystem::path& file,
                                       const objective& goal);
  /// The same tables in a nameless file, which SQLite removes; `file` is for messages.
  [[nodiscard]] static connection make_temporary(const std::filesystem::path& file,
                                                 const objective& goal);
  [[nodiscard]] static connection open(const std::filesystem::path& file);
  [[nodiscard]] static connection open_to_read(const std::filesystem::path& file);
  /// To read what can be read of a file that `open_to_read` refuses.
  [[nodiscard]] static connection open_damaged(const std::filesystem::path& file);

  [[nodiscard]] bool in_transaction() const;
  /// The schema's.
  [[nodiscard]] int version() const;

  /// Returns the error to tell a person.
  [[nodiscard]] tl::unexpected<error> failure(const SQLite::Exception& e) const;
};

/// Whether a file is a store that this version, or an earlier one, made; looks at its
/// header alone and writes nothing. `not_found`, `corrupt` (no store) or `conflict` (of a
/// newer version).
[[nodiscard]] expected<void> check_header(const std::filesystem::path& file);

/// Returns the error to tell a person if there is no connection.
[[nodiscard]] tl::unexpected<error> store_failure(const std::filesystem::path& file,
                                                  const SQLite::Exception& e,
                                                  int system_error = 0,
                                                  const store_advice& advice = {});

/// Calls a function that uses SQLite and returns an `expected`.
template<class Function>
auto guarded(const connection& c, Function f) -> decltype(f()) {
  try {
    return f();
  } catch (const SQLite::Exception& e) {
    return c.failure(e);
  }
}

/// SQLite's whole numbers are signed.
[[nodiscard]] inline std::int64_t as_signed(std::uint64_t n) {
  return static_cast<std::int64_t>(n);
}
[[nodiscard]] inline std::uint64_t natural(const SQLite::Column& c) {
  return static_cast<std::uint64_t>(c.getInt64());
}

/// The column's bytes, valid until the statement moves on.
[[nodiscard]] inline std::span<const char> bytes_of(const SQLite::Column& c) {
  const auto* data = static_cast<const char*>(c.getBlob());
  return {data, static_cast<std::size_t>(c.getBytes())};
}

/// Binds without a copy: the bytes must outlive the statement's execution.
inline void bind_blob(SQLite::Statement& s, int index, std::span<const char> bytes) {
  // A null pointer would be bound as NULL.
  s.bindNoCopy(index, bytes.empty() ? "" : bytes.data(), static_cast<int>(bytes.size()));
}

} // namespace clade
