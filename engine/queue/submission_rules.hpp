#pragma once

#include "engine/queue/queue_entry.hpp"
#include "genome/base/error.hpp"

namespace clade {

/// Checks the parts of a submission that can be judged without the queue: by who submits,
/// before anything is sent, and by the queue's head. `invalid_input`: a sentence says what
/// is wrong, or what is too large and what to do instead.
[[nodiscard]] expected<void> check_submission(const queue_submission& s);

} // namespace clade
