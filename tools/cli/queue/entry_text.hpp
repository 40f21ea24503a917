#pragma once

#include "engine/report/base/json_parts.hpp"

#include <cstdint>
#include <map>
#include <string>

namespace clade {

// Entries of a queue, or of a cluster, as people read them. Lists leave out what has no
// value.

/// Without control characters, which a terminal would obey.
[[nodiscard]] std::string text_of_key(const ordered_json& j, const char* key,
                                      const std::string& otherwise = "");
[[nodiscard]] std::int64_t number_of_key(const ordered_json& j, const char* key);

/// A number of ours, or a cluster's name for it.
[[nodiscard]] std::string id_of_entry(const ordered_json& e);

extern const char* const entry_table_head;
[[nodiscard]] std::string entry_table_row(const ordered_json& entry);

/// Prints the rows, or JSON, of entries that are not as they were, and notes how they are.
void print_entry_changes(const ordered_json& entries, bool json,
                         std::map<std::string, std::string>& known);

/// Prints all that is known of one.
void print_entry(const ordered_json& e);

} // namespace clade
