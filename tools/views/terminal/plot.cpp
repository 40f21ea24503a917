#include "tools/views/terminal/plot.hpp"

#include "engine/report/base/format.hpp"

#include <algorithm>
#include <cmath>

namespace clade::terminal {

namespace {

span_of_values widened(span_of_values s) {
  if (s.high > s.low)
    return s;
  const auto by = s.low == 0 ? 1.0 : std::fabs(s.low) * 0.05;
  return {s.low - by, s.high + by};
}

/// Returns the place in the range, from 0 to 1.
double share_of(double v, const span_of_values& s) {
  return std::clamp((v - s.low) / (s.high - s.low), 0.0, 1.0);
}

/// The bit of a dot in a Braille pattern, whose numbering is historical.
unsigned char braille_bit(int x, int y) {
  constexpr unsigned char bits[4][2] = {
      {0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
  return bits[y][x];
}

} // namespace

plot::plot(frame f) : frame_(std::move(f)) {
  frame_.x = widened(frame_.x);
  frame_.y = widened(frame_.y);
  if (frame_.glyphs == glyphs::ascii)
    high_ = wide_ = 1;
  rows_ = std::max(frame_.place.rows - 2, 1);
  labels_.resize(static_cast<std::size_t>(rows_));
  // Values at the ends, and between them every fourth row.
  for (int row = 0; row < rows_; ++row)
    if (row == 0 || row == rows_ - 1 || (row % 4 == 0 && row + 2 < rows_)) {
      const auto share = rows_ == 1 ? 0.5 : 1.0 - static_cast<double>(row) / (rows_ - 1);
      auto& label = labels_[static_cast<std::size_t>(row)];
      label = metric_text(frame_.y.low + share * (frame_.y.high - frame_.y.low));
      margin_ = std::max(margin_, columns_of(label));
    }
  columns_ = std::max(frame_.place.columns - margin_ - 2, 1);
  marks_.resize(static_cast<std::size_t>(rows_) * static_cast<std::size_t>(columns_));
}

int plot::x_of(double x) const {
  return static_cast<int>(std::lround(share_of(x, frame_.x) * (columns_ * wide_ - 1)));
}

int plot::y_of(double y) const {
  return static_cast<int>(std::lround((1 - share_of(y, frame_.y)) * (rows_ * high_ - 1)));
}

void plot::dot(int x, int y, const pen& with, bool shade) {
  auto& m =
      marks_[static_cast<std::size_t>(y / high_) * static_cast<std::size_t>(columns_)
             + static_cast<std::size_t>(x / wide_)];
  if (m.dots != 0 && shade && !m.shade)
    return;
  if (m.shade && !shade)
    m.dots = 0;
  m.shade = shade;
  m.dots |= braille_bit(x % wide_, y % high_);
  m.with = with;
}

template<class Visit>
void plot::walk(const std::vector<point>& points, Visit visit) const {
  for (std::size_t i = 0; i < points.size(); ++i) {
    const auto& to = points[i];
    const auto& from = i == 0 ? to : points[i - 1];
    const int first = x_of(from.x), last = x_of(to.x);
    for (int x = first + (i == 0 ? 0 : 1); x <= last; ++x) {
      const auto share =
          last == first ? 1.0 : static_cast<double>(x - first) / (last - first);
      visit(x, from.y + share * (to.y - from.y));
    }
    // Several points in one column of dots: each is shown.
    if (first == last && i > 0)
      visit(last, to.y);
  }
}

void plot::line(const std::vector<point>& points, const pen& with) {
  int before = -1;
  walk(points, [&](int x, double value) {
    const int y = y_of(value);
    // A steep line has no holes.
    const int from = before < 0 ? y : before;
    for (int between = std::min(from, y); between <= std::max(from, y); ++between)
      dot(x, between, with);
    before = y;
  });
}

void plot::band(const std::vector<point>& low, const std::vector<point>& high,
                const pen& with) {
  std::vector<int> bottom(static_cast<std::size_t>(columns_ * wide_), -1);
  walk(low, [&](int x, double value) {
    auto& lowest = bottom[static_cast<std::size_t>(x)];
    lowest = std::max(lowest, y_of(value));
  });
  walk(high, [&](int x, double value) {
    for (int y = y_of(value); y <= bottom[static_cast<std::size_t>(x)]; ++y)
      // Every second dot: a grey.
      if (high_ == 1 || (x + y) % 2 == 0)
        dot(x, y, with, true);
  });
}

void plot::dots(const std::vector<point>& points, const pen& with) {
  for (const auto& p : points)
    dot(x_of(p.x), y_of(p.y), with);
}

void plot::draw(canvas& on) const {
  const bool unicode = frame_.glyphs == glyphs::unicode;
  const int axis = frame_.place.column + margin_;
  for (int row = 0; row < rows_; ++row) {
    const int line = frame_.place.row + row;
    const auto& label = labels_[static_cast<std::size_t>(row)];
    on.write(line, axis - columns_of(label), label, style::faint);
    on.put(line, axis, unicode ? (label.empty() ? U'│' : U'┤') : U'|', style::faint);
    for (int column = 0; column < columns_; ++column) {
      const auto& m =
          marks_[static_cast<std::size_t>(row) * static_cast<std::size_t>(columns_)
                 + static_cast<std::size_t>(column)];
      if (m.dots != 0)
        on.put(line, axis + 1 + column, unicode ? U'\x2800' + m.dots : m.with.ascii,
               m.with.look);
    }
  }
  const int below = frame_.place.row + rows_;
  on.put(below, axis, unicode ? U'└' : U'+', style::faint);
  for (int column = 0; column < columns_; ++column)
    on.put(below, axis + 1 + column, unicode ? U'─' : U'-', style::faint);
  on.write(below + 1, axis + 1, frame_.left, style::faint, columns_);
  const auto right = columns_of(frame_.right);
  if (columns_of(frame_.left) + right < columns_)
    on.write(below + 1, axis + 1 + columns_ - right, frame_.right, style::faint);
}

std::string bar(double share, int columns, glyphs with) {
  const bool unicode = with == glyphs::unicode;
  const auto full = static_cast<int>(std::lround(std::clamp(share, 0.0, 1.0) * columns));
  std::string text;
  for (int i = 0; i < columns; ++i)
    text += i < full ? (unicode ? "█" : "#") : (unicode ? "░" : ".");
  return text;
}

} // namespace clade::terminal
