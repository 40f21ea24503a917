#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace clade::terminal {

/// How a cell looks. Two colours beside the terminal's own, so that all of it reads on
/// light and on dark.
enum class style : std::uint8_t {
  plain,
  faint,
  strong,
  good,   ///< Green.
  bad,    ///< Red.
  chosen, ///< Reverse: where the cursor is.
};

struct cell {
  char32_t glyph = U' '; ///< 0: the right half of the glyph before it.
  style look = style::plain;

  friend bool operator==(const cell&, const cell&) = default;
};

struct extent {
  int rows = 24, columns = 80;

  friend bool operator==(const extent&, const extent&) = default;
};

/// A rectangle of a canvas.
struct area {
  int row = 0, column = 0, rows = 0, columns = 0;
};

/// A grid of cells: what a terminal is to show. Whatever falls outside is left out.
class canvas {
public:
  explicit canvas(extent size);

  [[nodiscard]] extent size() const { return size_; }
  [[nodiscard]] const cell& at(int row, int column) const;

  void put(int row, int column, char32_t glyph, style look = style::plain);
  /// Writes one line of UTF-8, at most so many columns of it, and returns the column
  /// after it. A byte that is no character that a terminal shows (a control character,
  /// broken UTF-8) becomes '?': texts come from files and from other machines.
  int write(int row, int column, std::string_view text, style look = style::plain,
            int most = std::numeric_limits<int>::max());
  /// Gives all cells of the line this look.
  void paint(int row, style look);

private:
  extent size_;
  std::vector<cell> cells_;
};

/// How many columns `write` takes for it.
[[nodiscard]] int columns_of(std::string_view text);

/// The glyphs, a line each, in UTF-8 without blanks at the lines' ends.
[[nodiscard]] std::string to_text(const canvas& c);

} // namespace clade::terminal
