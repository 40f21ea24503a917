#pragma once

#include "engine/queue/queue_state.hpp"

#include <span>

namespace clade {

/// Returns about how much memory, and how much of an answer, an entry takes.
[[nodiscard]] std::uint64_t bytes_of(const queue_submission& s);

/// Whether the users of what is about to be submitted may have that much more waiting.
/// `conflict`: one may not; what has `once`, and is there already, is not among them.
[[nodiscard]] expected<void> check_waiting(const queue_state& state,
                                           const queue_rules& rules,
                                           std::span<const queue_event> submitted);

} // namespace clade
