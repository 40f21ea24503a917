#pragma once

#include "genome/base/error.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace clade {

/// Two members of a team tell each other this before anything else.
struct team_hello {
  /// They mean the same as in `team_formation`.
  std::uint64_t task = 0, generation = 0, checksum = 0;
  std::uint32_t own = 0, members = 1;

  friend bool operator==(const team_hello&, const team_hello&) = default;
};

inline constexpr std::size_t team_hello_bytes = 48;
inline constexpr std::uint32_t most_team_members = 4096;

using encoded_team_hello = std::array<std::byte, team_hello_bytes>;

[[nodiscard]] encoded_team_hello encode(const team_hello& hello);

/// `corrupt`: it is none; `conflict`: it is of another version of Clade.
[[nodiscard]] expected<team_hello> decode_team_hello(std::span<const std::byte> bytes);

enum class team_match {
  same,
  other_team,     ///< The other side is of another task, or of the team of another time.
  other_contents, ///< The other side is of this team, but with another checksum.
};

[[nodiscard]] team_match match(const team_hello& a, const team_hello& b);

} // namespace clade
