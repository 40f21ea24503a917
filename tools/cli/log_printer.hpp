#pragma once

#include "genome/error.hpp"
#include "tools/queue/processes/rank_lines.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

namespace clade {

/// Prints a log that comes in pieces: all of it, or the lines of one rank.
class log_printer {
public:
  /// `rank`: -1 for all.
  explicit log_printer(int rank) {
    if (rank >= 0)
      filter_.emplace(static_cast<std::size_t>(rank));
  }

  [[nodiscard]] expected<void> print(std::string_view text);
  /// Says that so many bytes are no longer there.
  void leave_out(std::uint64_t bytes);
  [[nodiscard]] expected<void> finish();

private:
  std::optional<rank_filter> filter_;
};

} // namespace clade
