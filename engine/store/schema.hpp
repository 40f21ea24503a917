#pragma once

namespace clade {

/// The text of engine/store/schema.sql.
extern const char* const schema_sql;

/// What SQLite keeps in the file's header as its application: "Clad".
inline constexpr int store_application_id = 0x436c6164;

} // namespace clade
