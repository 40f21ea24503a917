#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace clade {

/// "2: ", before each line of a process of several, as `srun --label` writes it.
[[nodiscard]] std::string rank_label(std::size_t rank);

/// Takes the lines of one process out of what several wrote, each line with its label
/// (those of srun have zeros before them). Lines without one are nobody's.
class rank_filter {
public:
  explicit rank_filter(std::size_t rank) : rank_(rank) {}

  /// Takes a part of the text; returns its lines that have come to their end, with that.
  [[nodiscard]] std::string add(std::string_view text);
  /// Nothing more comes. Returns the last line, if it is its own and has no end.
  [[nodiscard]] std::string finish();

private:
  [[nodiscard]] std::string_view own(std::string_view line) const;

  std::size_t rank_;
  std::string line_; ///< The part that has come of the next line.
};

} // namespace clade
