#pragma once

#include "tools/views/terminal/canvas.hpp"

#include <optional>
#include <string>
#include <vector>

namespace clade::terminal {

/// A table with a line of titles: columns as wide as their widest entry, two spaces
/// between them, numbers flush right. The last column has what is left.
class sheet {
public:
  struct column {
    std::string title;
    bool right = false;
  };

  explicit sheet(std::vector<column> columns) : columns_(std::move(columns)) {}

  /// One entry for each column.
  void add(std::vector<std::string> entries, style look = style::plain);
  /// The look of one entry of the row that was added last.
  void mark(std::size_t column, style look);
  [[nodiscard]] std::size_t size() const { return rows_.size(); }

  /// Draws the rows after `skipped` that there is room for; the row `chosen` in reverse.
  void draw(canvas& on, const area& place,
            std::optional<std::size_t> chosen = std::nullopt,
            std::size_t skipped = 0) const;

private:
  struct row {
    std::vector<std::string> entries;
    std::vector<style> looks;
  };
  [[nodiscard]] std::vector<int> widths(std::size_t from, std::size_t to) const;
  void draw_row(canvas& on, int line, const area& place, const row& r,
                const std::vector<int>& widths) const;

  std::vector<column> columns_;
  std::vector<row> rows_;
};

} // namespace clade::terminal
