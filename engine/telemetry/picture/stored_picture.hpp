#pragma once

#include "engine/store/run/store.hpp"
#include "engine/telemetry/picture/picture.hpp"

namespace clade {

// A run of a million evaluations takes seconds to fold. So a head keeps its picture in
// the store now and then and at its end, from which whoever reads that goes on. It is
// worth nothing else: one that does not fit the records, is damaged, or is of another
// version is passed over.

/// The picture of all records in the store; blocks on the disk.
[[nodiscard]] expected<run_picture> read_picture(const store& s);

/// The same from the records alone.
[[nodiscard]] expected<run_picture> fold_records(const store& s);

/// For `store::keep_picture`.
[[nodiscard]] kept_picture to_keep(const run_picture& p);

} // namespace clade
