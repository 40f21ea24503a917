#pragma once

#include "genome/base/error.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace clade {

/// The faults of a file, so that all of them can be told at once: a line for the first
/// row where something is wrong in a column, with how many other rows have the same, and
/// of each kind a few columns.
class table_complaints {
public:
  static constexpr std::size_t most_of_a_kind = 5;
  enum class of : std::uint8_t { length, number, finite, blank, text, target, other };

  explicit table_complaints(std::string origin) : origin_(std::move(origin)) {}

  /// `column` is any number that is the same for what belongs together.
  void add(std::uint64_t line, of kind, std::size_t column, std::string message);
  [[nodiscard]] bool empty() const { return lines_.empty(); }
  /// A line for each, at most `most_of_a_kind` of a kind, and the number of the rest.
  [[nodiscard]] tl::unexpected<error> take() const;

private:
  struct complaint {
    std::uint64_t line = 0;
    of kind = of::other;
    std::string message;
    std::uint64_t others = 0;
  };

  std::string origin_;
  std::vector<complaint> lines_;
  std::map<std::pair<std::size_t, of>, std::size_t> known_;
};

} // namespace clade
