#pragma once

#include "genome/base/error.hpp"
#include "tools/queue/processes/bare_log.hpp"
#include "tools/queue/processes/rank_lines.hpp"

#include <unistd.h>

#include <cstdint>
#include <optional>
#include <string_view>

namespace clade {

/// Prints a log that comes in pieces: all of it, or the lines of one rank. A file or pipe
/// gets each byte; a terminal no orders (`print_data`, `bare_log`).
class log_printer {
public:
  /// `rank`: -1 for all.
  explicit log_printer(int rank) {
    if (rank >= 0)
      filter_.emplace(static_cast<std::size_t>(rank));
    if (::isatty(STDOUT_FILENO) == 1)
      bare_.emplace();
  }

  [[nodiscard]] expected<void> print(std::string_view text);
  /// Says that so many bytes are no longer there.
  void leave_out(std::uint64_t bytes);
  [[nodiscard]] expected<void> finish();

private:
  void write(std::string_view text);
  void end_line();

  std::optional<rank_filter> filter_;
  std::optional<bare_log> bare_;
};

} // namespace clade
