#pragma once

namespace clade {

/// The text of engine/store/schema.sql.
extern const char* const schema_sql;

/// The number that SQLite keeps in the file's header as its application: "Clad".
inline constexpr int store_application_id = 0x436c6164;

/// The version of a run's schema that this program writes; the file's header has it too.
inline constexpr int run_schema_version = 2;

} // namespace clade
