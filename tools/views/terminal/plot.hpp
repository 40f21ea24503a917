#pragma once

#include "tools/views/terminal/canvas.hpp"

#include <string>
#include <vector>

namespace clade::terminal {

/// The glyphs that a terminal can show: Braille dots, eight to a cell, and blocks; or
/// ASCII alone.
enum class glyphs : std::uint8_t { unicode, ascii };

/// A range of values. One without width is given some.
struct span_of_values {
  double low = 0, high = 1;
};

/// A point of a chart.
struct point {
  double x = 0, y = 0;
};

/// The pen that is drawn with: dots of Braille, or this character if there is no Braille.
struct pen {
  style look = style::plain;
  char32_t ascii = U'*';
};

/// A chart in a rectangle: a frame of values on the left and below, and in it what is
/// drawn. A thing that is drawn later wins the look of a cell; where a line or a dot is,
/// no band is.
class plot {
public:
  struct frame {
    area place; ///< Values on the axes included.
    span_of_values x, y;
    std::string left, right; ///< Under the horizontal axis, at its ends.
    clade::terminal::glyphs glyphs = clade::terminal::glyphs::unicode;
  };

  explicit plot(frame f);

  /// From point to point, by rising x.
  void line(const std::vector<point>& points, const pen& with);
  /// All between two lines of the same x.
  void band(const std::vector<point>& low, const std::vector<point>& high,
            const pen& with);
  void dots(const std::vector<point>& points, const pen& with);

  void draw(canvas& on) const;

private:
  struct mark {
    unsigned char dots = 0;
    bool shade = false; ///< Whether it is the shade of a band.
    pen with;
  };
  [[nodiscard]] int x_of(double x) const;
  [[nodiscard]] int y_of(double y) const;
  void dot(int x, int y, const pen& with, bool shade = false);
  /// Calls `visit(column of dots, y)` along the line.
  template<class Visit>
  void walk(const std::vector<point>& points, Visit visit) const;

  frame frame_;
  std::vector<std::string> labels_; ///< Left of each row.
  int margin_ = 0;                  ///< Columns for them.
  int rows_ = 0, columns_ = 0;      ///< The numbers of cells.
  int high_ = 4, wide_ = 2;         ///< Dots in a cell.
  std::vector<mark> marks_;
};

/// "████████░░░░░░░░", so many columns.
[[nodiscard]] std::string bar(double share, int columns, glyphs with);

} // namespace clade::terminal
