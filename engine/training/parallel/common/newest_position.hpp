#pragma once

#include "engine/collectives/links.hpp"
#include "genome/codec/codec.hpp"

#include <cstdint>
#include <functional>
#include <optional>

namespace clade {

/// A position of the training, and how far it is.
struct newest_position {
  std::uint64_t progress = 0;
  bytes position;
};

/// Compares with all members how far each is. Returns nothing where this member is as far
/// as any, else what the first of those that are furthest has. `give`: this member's
/// position. Blocks; throws `team_broken`.
[[nodiscard]] std::optional<newest_position>
find_newest(links& l, std::uint64_t progress, const std::function<bytes()>& give);

} // namespace clade
