#pragma once

#include "engine/data/columns/learning_task.hpp"
#include "genome/base/error.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace clade {

/// The series of a file as they stand there: of any lengths and with gaps.
struct series_set {
  std::size_t channels = 0;
  /// The values of one channel after the other, series by series; NaN is a gap.
  std::vector<double> values;
  /// By series and channel, the place in `values` at which its values end. None is empty.
  std::vector<std::size_t> ends;
  std::vector<std::uint64_t> lines; ///< By series, its line.
  /// By series, its class or its number; empty where the file has none.
  std::vector<std::string> targets;
  std::string target;                ///< The target's name, if it has one.
  std::optional<learning_task> task; ///< The task that the header says.

  [[nodiscard]] std::size_t count() const { return lines.size(); }
  [[nodiscard]] std::span<const double> channel(std::size_t series,
                                                std::size_t channel) const {
    const std::size_t at = series * channels + channel;
    const std::size_t begin = at == 0 ? 0 : ends[at - 1];
    return std::span(values).subspan(begin, ends[at] - begin);
  }
};

/// Whether a text is a .ts file of aeon and sktime, as its first lines tell.
[[nodiscard]] bool looks_like_ts(std::string_view text);

/// Whether a text is an ARFF file of series, as its header tells: it has an attribute of
/// series (a relational one), or each step is an attribute, such as att1, att2, ... before
/// one called target. Other ARFF files are tables.
[[nodiscard]] bool looks_like_series_arff(std::string_view text);

/// Whether a text is one of the two.
[[nodiscard]] bool looks_like_series(std::string_view text);

/// Reads either. A missing value ("?", "NaN") is a gap. Errors name the line.
[[nodiscard]] expected<series_set> parse_series(std::string_view text,
                                                std::string_view origin);

/// The two kinds, each in a file of its own.
[[nodiscard]] expected<series_set> parse_ts(std::string_view text,
                                            std::string_view origin);
[[nodiscard]] expected<series_set> parse_series_arff(std::string_view text,
                                                     std::string_view origin);

} // namespace clade
