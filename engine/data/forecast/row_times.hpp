#pragma once

#include "engine/data/columns/date_column.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace clade {

/// The times of a table's rows: dates or numbers, whichever most of them can be read as.
/// The order of a date's parts is known when all were added.
class row_times {
public:
  /// `decimal` is the mark before the decimals of numbers.
  explicit row_times(char decimal) : decimal_(decimal) {}

  void add(std::string_view field);

  [[nodiscard]] bool dates() const { return numbered_ <= dated_; }
  [[nodiscard]] bool time_of_day() const { return dates_.time_of_day(); }
  /// The time of a row, in seconds since 1970 if times are dates; none where it is no time.
  [[nodiscard]] std::optional<double> time(std::size_t row) const;
  /// Says what the field of a row is, and what it should be: "is "x", where a date must be".
  [[nodiscard]] std::string complaint(std::size_t row) const;

private:
  char decimal_;
  std::vector<std::string> fields_;
  date_column dates_;
  std::size_t dated_ = 0, numbered_ = 0; ///< Fields that can be read as such.
};

} // namespace clade
