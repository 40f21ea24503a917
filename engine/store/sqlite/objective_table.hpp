#pragma once

#include "engine/store/sqlite/connection.hpp"

namespace clade {

/// A run's objective: its first metric stands in `runs`. If there are more, or
/// constraints, all of it stands in a table `aims`, which the store of one metric alone
/// does not have. Both throw SQLite::Exception.
void write_goal(SQLite::Database& db, const objective& goal);
/// The default where `runs` has no row.
[[nodiscard]] objective read_goal(const SQLite::Database& db);

} // namespace clade
