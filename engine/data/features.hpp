#pragma once

#include "engine/data/examples.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace clade {

/// Features of all examples, row-major, and which of them are the train part.
struct feature_rows {
  std::span<float> values;
  std::size_t width = 0;
  std::span<const std::uint32_t> train;
};

/// Puts columns of 0 and 1 in place of each category of `e`, one for each of its values,
/// sorted; and the same ones in `test`, where there is a test file. Returns by column
/// whether it is such a one. A value that only the test file has is an error.
[[nodiscard]] expected<std::vector<bool>> expand_categories(examples& e, examples* test);

/// Puts the mean of the column over the train part in place of NaN. Returns these means,
/// NaN for a column that has no value there.
[[nodiscard]] expected<std::vector<float>> fill_blanks(const feature_rows& rows);

/// By column: what is subtracted, and what the difference is divided by.
struct column_scales {
  std::vector<double> mean, deviation;
};

/// To mean 0 and deviation 1 over the train part, but for `indicators`. A column that is
/// constant there is only centred. Returns by what.
column_scales standardise_columns(const feature_rows& rows,
                                  const std::vector<bool>& indicators);

/// To a largest magnitude of 1 over the train part; returns what it divided by, 0 if
/// nothing.
float scale_images(const feature_rows& rows);

} // namespace clade
