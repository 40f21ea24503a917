#pragma once

#include "engine/data/bytes/csv_rows.hpp"
#include "engine/data/columns/csv_form.hpp"

#include <cstdint>
#include <span>
#include <string_view>

namespace clade {

/// The first line of a table is one of these.
enum class first_line : std::uint8_t { row, names, counts };

/// The kind that the first line was taken for, and whether it might be the other.
struct first_line_guess {
  first_line is = first_line::row;
  bool unclear = false;
};

/// Judges the fields of the first line by the rows that follow, at most 200 of them; the
/// rules are at the top of first_line.cpp.
[[nodiscard]] first_line_guess guess_first_line(std::span<const std::string_view> first,
                                                const csv_rows& following,
                                                const csv_form& form);

/// Whether it is scikit-learn's "150,4,setosa,versicolor,virginica": rows and features
/// counted, then names of classes, with as many rows behind, of one column more.
[[nodiscard]] bool gives_counts(std::span<const std::string_view> first,
                                csv_rows following);

} // namespace clade
