#pragma once

#include "engine/data/columns/code_book.hpp"
#include "engine/data/tables/csv_head.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace clade {

/// The series of a table's rows, told apart by the values of some columns.
class series_keys {
public:
  /// Takes the columns of these names. An error where there is no such column.
  [[nodiscard]] expected<void> find(const csv_head& head,
                                    const std::vector<std::string>& names);

  [[nodiscard]] const std::vector<std::size_t>& columns() const { return columns_; }
  /// The names of the columns.
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }

  /// Returns the series of a row, counted from 0 in order of appearance; of a row that has
  /// values of several series, its `own`, by the name of the column.
  std::uint32_t series_of(const csv_row& r, const std::string& own = {});

  /// The number of series that had a row.
  [[nodiscard]] std::size_t count() const { return labels_.size(); }
  /// The values that tell a series from others, by column.
  [[nodiscard]] const std::vector<std::string>& label(std::size_t series) const {
    return labels_[series];
  }

private:
  std::vector<std::size_t> columns_;
  std::vector<std::string> names_;
  code_book codes_;
  std::vector<std::vector<std::string>> labels_; ///< By series.
};

} // namespace clade
