#pragma once

#include "engine/data/data_set.hpp"
#include "engine/data/examples.hpp"
#include "genome/codec.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace clade {

/// What `load_data` does to examples before networks see them, as numbers that were
/// estimated on the train part. In this order, for a row of `width` values: categories
/// become columns of 0 and 1 in their place, blanks are filled, then columns are
/// standardised (in double), or pixels divided by the largest.
struct preprocessing {
  task_kind task = task_kind::classification;
  tensor_shape shape;    ///< Of one example, as networks take it.
  std::size_t width = 0; ///< Values of one example as files have them, without target.
  std::vector<std::string> names; ///< Of these columns; empty where the file has none.
  /// Where the target stands beside them, counted with it; none: it is elsewhere.
  std::optional<std::size_t> target_column;
  std::string target;                      ///< Its name, if it has one.
  std::vector<category_column> categories; ///< In order of columns; values sorted.
  /// By column after categories are expanded. NaN: a blank is an error. Empty: all are.
  std::vector<float> blanks;
  std::vector<double> mean, deviation; ///< The same columns; empty for images.
  float largest = 0;                   ///< Of images; 0: they stay as they are.
  std::vector<std::string> classes;    ///< Names by label.
  double target_mean = 0;
  double target_deviation = 1;
  genome_hash checksum; ///< Of the training files' bytes.

  /// Columns after categories are expanded.
  [[nodiscard]] std::size_t expanded_width() const;
};

/// Reads the training data again, past the cache, and estimates the same numbers as
/// `load_data`, with the same errors.
[[nodiscard]] expected<preprocessing> fit_preprocessing(const data_params& params,
                                                        std::uint64_t seed);

/// The stored form (grammar at the top of preprocessing_codec.cpp).
void encode(encoder& out, const preprocessing& how);

/// Reads it again, checked: what `read_new_examples` and `prepare` rely on holds, unless
/// the decoder has failed.
[[nodiscard]] preprocessing decode_preprocessing(decoder& in);

/// Examples to be predicted, ready for a network.
struct new_examples {
  std::size_t count = 0;
  std::vector<float> features; ///< [count, shape...]
};

/// Reads examples like those of the training data, with or without the target, which is
/// not looked at: a CSV with the same columns (where both have names, in any order), an
/// array, or CIFAR. `array` names it in a .npz; empty: as in training. Errors name the
/// file and the line.
[[nodiscard]] expected<new_examples> read_new_examples(const std::filesystem::path& file,
                                                       const std::string& array,
                                                       const data_params& params,
                                                       const preprocessing& how);

/// Rows as files have them, categories as places among their values, blanks as NaN.
struct raw_rows {
  std::string origin;
  std::size_t count = 0;
  std::vector<float> values;        ///< [count, width]
  std::vector<std::uint64_t> lines; ///< Of a CSV; empty otherwise.
};

/// What networks take: [count, shape...]. A blank that cannot be filled is an error.
[[nodiscard]] expected<std::vector<float>> prepare(const raw_rows& rows,
                                                   const preprocessing& how);

/// The rows of a CSV (its text, unzipped), for `read_new_examples`.
[[nodiscard]] expected<raw_rows> parse_new_csv(std::string_view text,
                                               const std::string& origin,
                                               const std::string& header,
                                               const preprocessing& how);

/// The rows of any file (read_examples.cpp).
[[nodiscard]] expected<raw_rows> read_raw_rows(const array_source& from,
                                               const data_params& params,
                                               const preprocessing& how);

} // namespace clade
