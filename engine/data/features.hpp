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

/// Gives an input that says so to each column that has a blank among the examples
/// `train`.
void add_blank_inputs(examples& e, std::span<const std::uint32_t> train);

/// Puts the inputs of each column of `e` in its place, and the same ones in `test`, where
/// there is a test file. The values of a category are sorted first. Returns by input
/// whether it stays as it is when others are standardised. A value that only the test
/// file has is a blank, or an error if `strict`.
[[nodiscard]] expected<std::vector<bool>> encode_columns(examples& e, examples* test,
                                                         bool strict);

/// The mean of each column over the train part, without NaN; NaN for a column that has no
/// value there.
[[nodiscard]] std::vector<float> means_of(const feature_rows& rows);

/// Puts these in place of NaN. One that is NaN itself is an error, if it is needed.
[[nodiscard]] expected<void> fill_blanks(const feature_rows& rows,
                                         const std::vector<float>& fills);

/// By column: what is subtracted, and what the difference is divided by.
struct column_scales {
  std::vector<double> mean, deviation;
};

/// To mean 0 and deviation 1 over the train part, but for the `unscaled`. A column that
/// is constant there is only centred. Returns by what.
column_scales standardise_columns(const feature_rows& rows,
                                  const std::vector<bool>& unscaled);

/// To a largest magnitude of 1 over the train part; returns what it divided by, 0 if
/// nothing.
float scale_images(const feature_rows& rows);

} // namespace clade
