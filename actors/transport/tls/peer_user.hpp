#pragma once

#include <sys/types.h>

#include <cstdint>

namespace clade {

/// The process at the other end of a TCP connection.
struct peer_user {
  enum class is : std::uint8_t {
    known,  ///< It is of `user`.
    absent, ///< The connection is within this machine, and no process has its other end:
            ///< that was closed, or is not accepted yet.
    untold, ///< It is of another machine, or the kernel does not tell.
  };
  is found = is::untold;
  uid_t user = 0;

  [[nodiscard]] bool is_known() const { return found == is::known; }
};

[[nodiscard]] peer_user user_of_peer(int descriptor);

} // namespace clade
