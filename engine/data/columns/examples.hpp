#pragma once

#include "engine/data/columns/column_encoding.hpp"
#include "engine/data/columns/data_params.hpp"
#include "engine/data/columns/forecast_steps.hpp"
#include "genome/base/error.hpp"
#include "genome/genes/genome.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace clade {

/// A column of texts; as a feature it holds indices into `values` until it is encoded.
struct text_column {
  std::size_t column = 0;  ///< Among `examples::columns`.
  std::size_t feature = 0; ///< Among the features.
  std::string name;        ///< For messages: column 3 ("plan").
  std::vector<std::string> values;
};

/// The content of one file, or of a pair of files, before it is split and scaled.
struct examples {
  std::string origin; ///< The file that holds the targets, for messages.
  bool by_line = false;
  bool by_row = false; ///< Besides: lines are rows of a table that was in no CSV.
  std::vector<std::uint64_t> places; ///< Line of each example, or byte of its target.

  /// The paths of examples that are files of their own, relative to `origin`; else empty.
  std::vector<std::string> names;

  /// Indices of the examples in their file where `limit` left some out; else empty.
  std::vector<std::uint32_t> kept;

  tensor_shape shape; ///< The shape of one example, the channels of an image first.
  /// The layout of an array, and the sizes of one example in its order.
  array_layout layout = array_layout::channels_first;
  tensor_shape sizes;
  std::size_t count = 0;
  exact_numbers features;         ///< [count, shape...]; NaN is a blank to be filled.
  std::vector<text_column> texts; ///< In order of columns.
  /// For a table: its columns but the target. Columns that are not ignored have one
  /// feature each until they are encoded. Empty for an array.
  std::vector<column_encoding> columns;
  /// The target's column, if it is one of them.
  std::optional<std::size_t> target_column;
  std::string target;        ///< Its name, if it has one.
  char decimal = '.';        ///< The mark before the decimals of numbers.
  std::uint64_t dropped = 0; ///< Rows left out for blanks.
  /// By example an index into `split_values`, where the split is by a column.
  std::vector<std::uint32_t> split_codes;
  std::vector<std::string> split_values;

  /// By example its part, 0 for training, 1 for validation, 2 for the test, where the
  /// file decides it; else empty.
  std::vector<std::uint8_t> parts;
  forecast_steps steps{}; ///< Empty of what is no forecast.

  /// Classification: by example an index into `classes`, which are in order of
  /// appearance.
  std::vector<std::uint32_t> labels;
  std::vector<std::string> classes;
  /// The file itself gives names to labels 0, 1, ... (scikit-learn's first line).
  std::vector<std::string> class_names;
  std::vector<double> targets;   ///< Regression.
  std::vector<double> weights{}; ///< By example; empty: all count the same.

  genome_hash checksum; ///< The checksum of the files' bytes.

  /// "digits.csv:12", "digits.parquet: row 11", "labels.idx: byte 20" or
  /// "photos/cats/1.jpg".
  [[nodiscard]] std::string place(std::size_t example) const;
};

/// How many targets each example has.
[[nodiscard]] inline std::size_t outputs_of(const examples& e) {
  return e.labels.empty() && !e.classes.empty() ? e.classes.size() : 1;
}

/// "labels.idx: byte 20".
[[nodiscard]] std::string byte_place(std::string_view origin, std::uint64_t byte);

/// An array, or what else a file holds.
struct array_source {
  std::filesystem::path file; ///< Empty: there is none.
  std::string array;          ///< Its name, where the file is an archive (.npz).
  std::string_view key;       ///< The key of `[data]` that names it, for messages.

  /// "x.csv", "x.npz: x_train".
  [[nodiscard]] std::string place() const;
};

/// The place of examples, and of their targets if those are no column beside them.
struct example_files {
  array_source examples;
  array_source targets;
};

[[nodiscard]] example_files training_files(const data_params& params);

/// None if the test part is split off from the others.
[[nodiscard]] std::optional<example_files> test_files(const data_params& params);

/// Reads all of a source, of any of the formats; each file once.
[[nodiscard]] expected<examples> read_examples(const example_files& from,
                                               const data_params& params);

/// `data_set::checksum` as reading all of the files would give it, without parsing them.
[[nodiscard]] expected<genome_hash> checksum_of_files(const data_params& params);

/// The images that the tables of `params.images` name.
struct table_images {
  std::filesystem::path folder;             ///< Their paths begin there.
  std::vector<std::filesystem::path> files; ///< Sorted, each once.
};

/// Reads the tables for them. None where examples are no such images, or the folders of the
/// tables to train on and to test on are not the same.
[[nodiscard]] expected<std::optional<table_images>>
images_of_tables(const data_params& params);

/// One checksum of two.
[[nodiscard]] genome_hash both(genome_hash a, genome_hash b);

} // namespace clade
