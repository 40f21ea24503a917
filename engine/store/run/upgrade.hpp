#pragma once

#include "engine/store/run/store.hpp"
#include "engine/store/sqlite/connection.hpp"

namespace clade {

// A store of an earlier schema is read as it is. To be written it must have this one's
// tables: `clade upgrade`.

/// Makes the state that views will begin with, of all records in the store; an error ends
/// the upgrade.
using picture_maker = std::function<expected<kept_picture>(const store&)>;

/// Puts an upgraded copy of the store, which stays as it is, where `copy` says; also
/// while it is being written. `conflict` if something is there already. After an error,
/// or a kill, nothing of that name is there.
[[nodiscard]] expected<void> upgrade_copy(const std::filesystem::path& file,
                                          const std::filesystem::path& copy,
                                          const picture_maker& picture_of);

/// Changes the file itself, in one transaction. `conflict` while a process writes it.
[[nodiscard]] expected<void> upgrade_in_place(const std::filesystem::path& file,
                                              const picture_maker& picture_of);

/// `conflict`, with the command to use, where an open store is of an earlier schema.
[[nodiscard]] expected<void> check_current(const connection& c);

} // namespace clade
