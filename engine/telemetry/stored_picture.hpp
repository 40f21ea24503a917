#pragma once

#include "engine/store/store.hpp"
#include "engine/telemetry/picture.hpp"

#include <filesystem>

namespace clade {

// A run of a million evaluations takes seconds to fold. So whoever has folded it leaves
// the picture in a file beside the store, from which the next one goes on. That file is
// worth nothing else: one that is missing, damaged, of another run or of another version
// is passed over.

/// "run.picture" beside "run.db".
[[nodiscard]] std::filesystem::path picture_file(const std::filesystem::path& store_file);

/// The picture of all records in the store; blocks on the disk. `kept`: the file to begin
/// with.
[[nodiscard]] expected<run_picture> read_picture(const store& s,
                                                 const std::filesystem::path& kept);

/// `identity` is the store's. Replaces the file as a whole.
[[nodiscard]] expected<void> keep_picture(const run_picture& p, std::uint64_t identity,
                                          const std::filesystem::path& file);

} // namespace clade
