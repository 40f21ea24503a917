#pragma once

#include "engine/data/columns/column_encoding.hpp"
#include "engine/data/columns/examples.hpp"
#include "engine/data/forecast/window_table.hpp"
#include "engine/data/reading/data_set.hpp"
#include "genome/codec/codec.hpp"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace clade {

/// The steps that `load_data` does to examples before networks see them. In this order:
/// the columns of a table become inputs (column_encoding.hpp), blanks are filled, then
/// inputs are standardised (in double), or pixels divided by the largest. All numbers
/// were estimated on the train part.
struct preprocessing {
  learning_task task = classification;
  tensor_shape shape; ///< The shape of one example, as networks take it.
  /// The layout of arrays like those of the training data.
  array_layout layout = array_layout::channels_first;
  /// The sizes of one example of an array, in the order of its file; empty of a table.
  tensor_shape sizes;
  std::size_t width = 0; ///< Columns of a file, without the target.
  /// For a table: its `width` columns, as the training file has them. Empty: all of them
  /// are numbers without a name, as those of an array are.
  std::vector<column_encoding> columns;
  /// The place of the target beside them, counted with it; none: it is elsewhere.
  std::optional<std::size_t> target_column;
  std::string target; ///< Its name, if it has one.
  /// The mark before the decimals in the training file, '.' or ','.
  char decimal = '.';
  /// By input: what is put in the place of NaN. If it is NaN, or for all inputs if it is
  /// empty, that is the mean below.
  std::vector<double> blanks;
  /// By input, what is subtracted, and what the difference is divided by; empty for
  /// images. If a column has outliers, these are the median and the quartiles' range.
  std::vector<double> mean, deviation;
  /// By input, the largest magnitude of a scaled value, beyond which it is cut off;
  /// infinite where there is none. Empty: of no input there is one.
  std::vector<double> limit{};
  /// The largest value of images; 0: they stay as they are.
  float largest = 0;
  std::vector<std::string> classes;            ///< The same as in `data_set`.
  std::vector<target_scale> target_scales{{}}; ///< The same as in `data_set`.
  genome_hash checksum; ///< The checksum of the training files' bytes.

  /// Returns the problem that networks for the examples must fit.
  [[nodiscard]] problem as_problem() const {
    return {shape, task.outputs(classes.size()), numbers_of(columns),
            !task.has_classes()};
  }
  /// How many inputs the columns make.
  [[nodiscard]] std::size_t inputs() const;
  [[nodiscard]] const column_encoding& column(std::size_t i) const;
  /// Whether all columns are numbers that make one input each, as those of an array.
  [[nodiscard]] bool takes_plain_numbers() const;
  /// Whether each line of a file may be an example: there is one column, of texts, and it
  /// has no name.
  [[nodiscard]] bool takes_text_lines() const;
  /// Whether files of texts are examples: there is one column, of texts.
  [[nodiscard]] bool takes_files_of_text() const;
  /// By input, the value that replaces NaN; NaN where a blank is an error.
  [[nodiscard]] std::vector<double> fills() const;
};

/// Returns a scaled value, cut off where its magnitude is above `limit`.
[[nodiscard]] inline float limited(float scaled, double limit) {
  const auto most = static_cast<float>(limit);
  return std::clamp(scaled, -most, most);
}

/// Returns how `load_data` prepares the training data, with the same errors.
[[nodiscard]] expected<preprocessing>
fit_preprocessing(const data_params& params, std::uint64_t seed,
                  const data_cache& cache = users_cache());

/// The stored form (grammar at the top of preprocessing_codec.cpp).
void encode(encoder& out, const preprocessing& how);

/// Reads it again, checked: what `read_new_examples` and `prepare` rely on holds, unless
/// the decoder has failed.
[[nodiscard]] preprocessing decode_preprocessing(decoder& in);

/// The targets of new examples, for those who want to know how good predictions are.
struct new_targets {
  /// By row: the value, or the number of the class; by row and output the values of several
  /// targets, or 1 of each label that a row has, else 0. NaN where there is none, or a class
  /// that the training data does not have.
  std::vector<double> values{};
  std::uint64_t blanks = 0;  ///< Rows without a target.
  std::uint64_t unknown = 0; ///< Rows of a class that the training data does not have.
  std::string example{};     ///< Such a class.
};

/// Says which texts are blanks, and what number a text is.
struct target_reading {
  std::function<bool(std::string_view)> is_blank;
  std::function<std::optional<double>(std::string_view)> number_of;
};

/// Adds the targets of a row: one field, or one for each of several targets. If one of them
/// says nothing that can be compared with, so does the row.
void add_targets(new_targets& to, std::span<const std::string_view> fields,
                 const target_reading& reading, const preprocessing& how);

/// Reads the targets that texts say, so many for each row.
[[nodiscard]] new_targets read_targets(std::span<const std::string> texts,
                                       const target_reading& reading,
                                       const preprocessing& how, std::size_t each = 1);

/// Examples to be predicted, ready for a network.
struct new_examples {
  std::size_t count = 0;
  std::vector<float> features;      ///< [count, shape...]
  std::vector<std::string> notes{}; ///< Notes on them, a line each.
  /// The targets of a table that has the target's column.
  std::optional<new_targets> targets{};
  std::vector<std::uint64_t> lines{}; ///< The lines of a CSV's rows; empty otherwise.
  std::vector<std::string> names{};   ///< The files of examples; empty otherwise.
  /// By row, where series are forecast, or are told apart by columns of a table.
  forecast_rows forecasts{};
};

/// Reads examples like those of the training data, with or without the target, which
/// decides nothing: a CSV with the same columns (where both have names, in any order and
/// with others among them), an array, CIFAR, an image or a folder of images, a text or a
/// folder of texts; the file "-" is standard input. `array` names it in a .npz; empty: as
/// in training. Blanks are filled, and values that the training data does not have are
/// blanks; the notes say so. Errors name the file and the line.
[[nodiscard]] expected<new_examples> read_new_examples(const std::filesystem::path& file,
                                                       const std::string& array,
                                                       const data_params& params,
                                                       const preprocessing& how);

/// Rows of a file, encoded but neither filled nor scaled.
struct raw_rows {
  std::string origin;
  std::size_t count = 0;
  exact_numbers values;               ///< [count, inputs]; NaN is a blank.
  std::vector<std::uint64_t> lines{}; ///< The lines of a CSV; empty otherwise.
  bool by_row = false;                ///< They are rows of a table that was in no CSV.
  std::vector<std::string> names{};   ///< The files of examples; empty otherwise.
  std::vector<std::string> notes{};   ///< Notes on them, a line each.
  /// The targets of a table that has the target's column.
  std::optional<new_targets> targets{};
  /// By row, where series are forecast, or are told apart by columns of a table.
  forecast_rows forecasts{};
};

/// Returns the values that networks take: [count, shape...]. A blank that cannot be
/// filled is an error.
[[nodiscard]] expected<std::vector<float>> prepare(const raw_rows& rows,
                                                   const preprocessing& how);

/// The rows of a CSV (its text, unzipped), for `read_new_examples`. `written` says how it is
/// written, as far as that is known.
[[nodiscard]] expected<raw_rows>
parse_new_csv(std::string_view text, const std::string& origin, const std::string& header,
              const preprocessing& how, const data_params& written = {});

/// The rows of any file (read_examples.cpp).
[[nodiscard]] expected<raw_rows> read_raw_rows(const array_source& from,
                                               const data_params& params,
                                               const preprocessing& how);

} // namespace clade
