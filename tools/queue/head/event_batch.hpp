#pragma once

#include "tools/queue/head/queue_head.hpp"

namespace clade {

/// Returns the answer to a replica, as msgpack: [last, checksum, [[sequence, unix_ms,
/// payload, checksum], ...]].
[[nodiscard]] bytes encode(const event_batch& batch);
/// Total: any bytes give a batch or an error. The content of a batch is not checked.
[[nodiscard]] expected<event_batch> decode_event_batch(std::span<const char> data);

} // namespace clade
