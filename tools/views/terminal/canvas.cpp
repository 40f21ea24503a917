#include "tools/views/terminal/canvas.hpp"

#include <wchar.h>

#include <algorithm>

namespace clade::terminal {

namespace {

struct decoded {
  char32_t glyph = U'?';
  std::size_t bytes = 1;
};

/// The first character of the text; '?' for a byte that begins none.
decoded first_of(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const auto lead = byte(0);
  if (lead < 0x80)
    return {lead, 1};
  const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < length)
    return {};
  char32_t glyph = lead & (0xff >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80)
      return {};
    glyph = glyph << 6 | (byte(i) & 0x3f);
  }
  return {glyph, length};
}

/// 0 for what cannot be shown.
int width_of(char32_t glyph) {
  if (glyph < 0x7f)
    return glyph < 0x20 ? 0 : 1;
  // Lines, blocks and Braille, which we draw with ourselves.
  if (glyph >= 0x2500 && glyph < 0x2900)
    return 1;
  return std::max(0, ::wcwidth(static_cast<wchar_t>(glyph)));
}

void append_utf8(std::string& text, char32_t glyph) {
  const auto tail = [&](int shift) {
    text += static_cast<char>(0x80 | (glyph >> shift & 0x3f));
  };
  if (glyph < 0x80) {
    text += static_cast<char>(glyph);
  } else if (glyph < 0x800) {
    text += static_cast<char>(0xc0 | glyph >> 6);
    tail(0);
  } else if (glyph < 0x10000) {
    text += static_cast<char>(0xe0 | glyph >> 12);
    tail(6);
    tail(0);
  } else {
    text += static_cast<char>(0xf0 | glyph >> 18);
    tail(12);
    tail(6);
    tail(0);
  }
}

/// Calls `visit(glyph, width)` for each character, until it returns false.
template<class Visit>
void for_each_glyph(std::string_view text, Visit visit) {
  while (!text.empty()) {
    auto next = first_of(text);
    text.remove_prefix(next.bytes);
    auto width = width_of(next.glyph);
    if (width == 0) {
      next.glyph = U'?';
      width = 1;
    }
    if (!visit(next.glyph, width))
      return;
  }
}

} // namespace

canvas::canvas(extent size)
    : size_{std::max(size.rows, 0), std::max(size.columns, 0)},
      cells_(static_cast<std::size_t>(size_.rows)
             * static_cast<std::size_t>(size_.columns)) {}

const cell& canvas::at(int row, int column) const {
  return cells_.at(static_cast<std::size_t>(row) * static_cast<std::size_t>(size_.columns)
                   + static_cast<std::size_t>(column));
}

void canvas::put(int row, int column, char32_t glyph, style look) {
  if (row < 0 || column < 0 || row >= size_.rows || column >= size_.columns)
    return;
  cells_[static_cast<std::size_t>(row) * static_cast<std::size_t>(size_.columns)
         + static_cast<std::size_t>(column)] = {glyph, look};
}

int canvas::write(int row, int column, std::string_view text, style look, int most) {
  const auto end = static_cast<int>(
      std::min<long>(size_.columns, static_cast<long>(column) + std::max(most, 0)));
  for_each_glyph(text, [&](char32_t glyph, int width) {
    if (column + width > end)
      return false;
    put(row, column, glyph, look);
    for (int i = 1; i < width; ++i)
      put(row, column + i, 0, look);
    column += width;
    return true;
  });
  return column;
}

void canvas::paint(int row, style look) {
  for (int column = 0; column < size_.columns; ++column)
    put(row, column, at(row, column).glyph, look);
}

int columns_of(std::string_view text) {
  int columns = 0;
  for_each_glyph(text, [&](char32_t, int width) {
    columns += width;
    return true;
  });
  return columns;
}

std::string to_text(const canvas& c) {
  std::string text;
  for (int row = 0; row < c.size().rows; ++row) {
    std::string line;
    for (int column = 0; column < c.size().columns; ++column)
      if (const auto glyph = c.at(row, column).glyph; glyph != 0)
        append_utf8(line, glyph);
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

} // namespace clade::terminal
