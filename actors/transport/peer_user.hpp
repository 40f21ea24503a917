#pragma once

#include <sys/types.h>

#include <optional>

namespace clade {

/// The user whose process is at the other end of a TCP connection within this machine;
/// none where it is of another machine, is gone, or the kernel does not tell.
[[nodiscard]] std::optional<uid_t> user_of_peer(int descriptor);

} // namespace clade
