#include "tools/views/terminal/sheet.hpp"

#include <algorithm>

namespace clade::terminal {

void sheet::add(std::vector<std::string> entries, style look) {
  std::vector<style> looks(entries.size(), look);
  rows_.push_back({std::move(entries), std::move(looks)});
}

void sheet::mark(std::size_t column, style look) {
  rows_.back().looks.at(column) = look;
}

std::vector<int> sheet::widths(std::size_t from, std::size_t to) const {
  std::vector<int> widths;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    auto width = columns_of(columns_[i].title);
    for (auto r = from; r < to; ++r)
      width = std::max(width, columns_of(rows_[r].entries[i]));
    widths.push_back(width);
  }
  return widths;
}

void sheet::draw_row(canvas& on, int line, const area& place, const row& r,
                     const std::vector<int>& widths) const {
  const int end = place.column + place.columns;
  int column = place.column;
  for (std::size_t i = 0; i < columns_.size() && column < end; ++i) {
    const auto gap = columns_[i].right ? widths[i] - columns_of(r.entries[i]) : 0;
    on.write(line, column + gap, r.entries[i], r.looks[i], end - column - gap);
    column += widths[i] + 2;
  }
}

void sheet::draw(canvas& on, const area& place, std::optional<std::size_t> chosen,
                 std::size_t skipped) const {
  if (place.rows < 1)
    return;
  const auto from = std::min(skipped, rows_.size());
  const auto to = std::min(rows_.size(), from + static_cast<std::size_t>(place.rows - 1));
  const auto wide = widths(from, to);
  row head;
  for (const auto& c : columns_) {
    head.entries.push_back(c.title);
    head.looks.push_back(style::faint);
  }
  draw_row(on, place.row, place, head, wide);
  for (auto i = from; i < to; ++i) {
    const int line = place.row + 1 + static_cast<int>(i - from);
    draw_row(on, line, place, rows_[i], wide);
    if (chosen == i)
      on.paint(line, style::chosen);
  }
}

} // namespace clade::terminal
