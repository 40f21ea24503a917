#pragma once

#include <cstdint>

namespace clade {

/// How a machine stands with the queue's server.
enum class machine_state : std::uint8_t {
  there,
  awaited, ///< It had something to run when this server began, and was not heard of yet.
  leaves,
  lost,
};

/// "there", "awaited", "leaves", "lost"
[[nodiscard]] constexpr const char* to_text(machine_state s) {
  switch (s) {
  case machine_state::there:
    return "there";
  case machine_state::awaited:
    return "awaited";
  case machine_state::leaves:
    return "leaves";
  case machine_state::lost:
    return "lost";
  }
  return "";
}

} // namespace clade
