#pragma once

#include "genome/base/text.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace clade {

[[nodiscard]] std::string metric_text(const std::optional<double>& v); ///< None: "-".

/// "0.4 s", "32 s", "6 min 10 s", "3 h 05 min", "2 d 4 h".
[[nodiscard]] std::string duration_text(double seconds);

/// "812 B", "57.3 KiB".
[[nodiscard]] std::string size_text(std::uint64_t bytes);

/// Local time of milliseconds since 1970: "2026-01-31 14:05:00".
[[nodiscard]] std::string time_text(std::int64_t unix_ms);

/// No longer than `width` characters: the end gives way to "...".
[[nodiscard]] std::string shortened(std::string_view text, std::size_t width);

/// Returns how a candidate came about and to which epoch it is trained: "widen n2 units 8
/// -> 16 (to epoch 3)". `epochs` and `start` are as in `candidate`; the origin of one that
/// goes on from another names the epoch itself. If the evaluation's `reason` says that
/// the clock left it fewer epochs, these are said: "trained to the end, for 1.2 of 180
/// epochs".
[[nodiscard]] std::string origin_text(const std::string& origin, std::uint32_t epochs,
                                      std::uint64_t start, std::string_view reason = {});

/// Lines no longer than `width` characters, broken at spaces, and inside a word only
/// where that is longer than a line; at least one.
[[nodiscard]] std::vector<std::string> wrapped(std::string_view text, std::size_t width);

/// "+0.0083", "-0.0120", "+3e-06", "0.0000"; none: "-".
[[nodiscard]] std::string change_text(const std::optional<double>& change);

/// Lines of columns, two spaces between them; as wide as the longest entry. Each entry is
/// shown as a `plain_line`: names of classes and columns come from files of others.
class table {
public:
  enum class align : std::uint8_t { left, right };

  explicit table(std::vector<align> columns) : columns_(std::move(columns)) {}

  void add(std::vector<std::string> row);
  /// A line that does not fit the columns.
  void add_line(std::string text) { rows_.push_back({std::move(text)}); }

  /// Each line indented by so many spaces.
  [[nodiscard]] std::string to_text(std::size_t indent = 0) const;

private:
  std::vector<align> columns_;
  std::vector<std::vector<std::string>> rows_;
};

} // namespace clade
