#pragma once

#include "engine/data/bytes/stored_numbers.hpp"
#include "engine/data/columns/examples.hpp"
#include "engine/data/numbers/robust_scale.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace clade {

/// Features of all examples, row-major, and which of them are the train part.
struct feature_rows {
  exact_numbers& values;
  std::size_t width = 0;
  std::span<const std::uint32_t> train;
};

/// Gives an input that says so to each column that has a blank among the examples
/// `train`.
void add_blank_inputs(examples& e, std::span<const std::uint32_t> train);

/// How columns of texts become inputs.
struct text_learning {
  text_rule rule = text_rule::scores;
  std::uint64_t seed = 0;
  /// Whether `examples::split_codes` are groups, of which no example tells another's score.
  bool by_group = false;
};

/// Puts the inputs of each column of `e` in its place, and the same ones in `test`, where
/// there is a test file. The values of a category are sorted first, and the vocabulary and
/// the scores of a text are learnt from the examples `train`, which get what models without
/// them say (text_scores.hpp). Returns by input whether it stays as it is
/// when others are standardised. A value that only the test file has is a blank, or an
/// error if `strict`.
[[nodiscard]] expected<std::vector<bool>>
encode_columns(examples& e, std::span<const std::uint32_t> train, examples* test,
               bool strict, const text_learning& texts = {});

/// The mean of each column over the train part, without NaN; NaN for a column that has no
/// value there. If all values are in 32 bits, so are the means.
[[nodiscard]] std::vector<double> means_of(const feature_rows& rows);

/// Puts these in place of NaN. One that is NaN itself is an error, if it is needed.
[[nodiscard]] expected<void> fill_blanks(const feature_rows& rows,
                                         const std::vector<double>& fills);

/// Returns the robust scales of the columns that need one over the train part, and nothing
/// for the others and the `unscaled`.
[[nodiscard]] std::vector<std::optional<robust_scale>>
outlying_columns(const feature_rows& rows, const std::vector<bool>& unscaled);

/// Returns the names, or the numbers, of the columns whose inputs have a robust scale.
[[nodiscard]] std::vector<std::string>
columns_of(const examples& e, const std::vector<std::optional<robust_scale>>& robust);

/// By column: what is subtracted, what the difference is divided by, and the largest
/// magnitude of the result (`preprocessing::limit`).
struct column_scales {
  std::vector<double> mean, deviation, limit{};
};

/// Returns what makes mean 0 and deviation 1 of each column over the train part, but for
/// the `unscaled`, and for those with a robust scale. A column that is constant there is
/// only centred.
[[nodiscard]] column_scales
scales_of(const feature_rows& rows, const std::vector<bool>& unscaled,
          const std::vector<std::optional<robust_scale>>& robust = {});

/// Returns the scales of series of that shape, [steps, channels]: each channel has mean 0
/// and deviation 1 over all steps of the train part. A gap there gets the mean, for which
/// it is replaced in `rows`.
[[nodiscard]] column_scales scales_of_channels(const feature_rows& rows,
                                               const tensor_shape& shape);

/// Returns the values so scaled: in 64 bits until then, in 32 from here on.
[[nodiscard]] large_vector<float> scaled(exact_numbers values,
                                         const column_scales& scales);

/// Returns the largest magnitude over the train part; 0 where there is none.
[[nodiscard]] float largest_of(const feature_rows& rows);

/// Returns numbers that mean the values divided by it, or as they are where it is 0: whole
/// numbers from 0 to 255 in 8 bits with their divisor, others divided.
[[nodiscard]] stored_numbers divided(exact_numbers values, float largest);

} // namespace clade
