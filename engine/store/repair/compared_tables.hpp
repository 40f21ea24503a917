#pragma once

#include "engine/store/sqlite/connection.hpp"

#include <string>
#include <vector>

namespace clade {

/// Compares the definitions and the rows of every table, index and view that `derived`
/// has; people may have added others. Returns where `stored` differs, as a sentence; empty
/// if it does not.
[[nodiscard]] expected<std::string> compare_tables(const connection& stored,
                                                   const connection& derived);

/// Adds to `additions` what `stored` has and no store has. Returns a sentence on the first
/// trigger, if there is one.
[[nodiscard]] expected<std::string> find_additions(const connection& stored,
                                                   const connection& derived,
                                                   std::vector<std::string>& additions);

} // namespace clade
