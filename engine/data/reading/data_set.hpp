#pragma once

#include "engine/data/bytes/stored_numbers.hpp"
#include "engine/data/columns/column_encoding.hpp"
#include "engine/data/columns/data_params.hpp"
#include "engine/data/columns/forecast_steps.hpp"
#include "engine/data/reading/data_cache.hpp"
#include "genome/base/error.hpp"
#include "genome/codec/codec.hpp"
#include "genome/genes/genome.hpp"
#include "search_spaces/operators/network.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace clade {

/// Examples in memory, as plain numbers. Features are standardised by column over the
/// training part for vectors (but for the 0 and 1 of categories), and scaled to [0, 1] by
/// the largest value of the training part for images.
struct data_set {
  learning_task task = classification;
  tensor_shape shape;
  std::size_t examples = 0;
  /// [examples, shape...], row-major. Images of whole numbers from 0 to 255 take one byte
  /// for each.
  stored_numbers features;
  std::vector<std::int64_t> labels; ///< [examples], for classification.
  /// [examples, outputs]: numbers, standardised; or 1 of a label that an example has, else 0.
  std::vector<float> targets;
  /// By example, how much it counts in training: 1 in the mean of the train part. Empty: all
  /// count the same.
  std::vector<float> weights{};
  /// To undo the standardisation in reports: of each output, or one of all.
  std::vector<target_scale> target_scales{{}};
  /// The names by label; without classes those of labels, or of several targets.
  std::vector<std::string> classes;
  std::vector<std::uint32_t> train, validation, test; ///< Indices of examples.
  /// Whether chance alone decided which examples are of the train and which of the validation
  /// part: not time, groups or the steps of a forecast, whose neighbors tell too much.
  bool parts_by_chance = true;
  /// The place of each example of `test` in its file: its line, or its index from 0.
  std::vector<std::uint64_t> test_places;
  bool by_line = false; ///< Places are lines.
  /// The files of the examples of `test`, below the data's folder; empty where examples
  /// are no files.
  std::vector<std::string> test_names{};
  /// The steps that examples of a forecast are; else none.
  std::shared_ptr<const forecast_steps> steps{};
  genome_hash checksum; ///< The checksum of the files' bytes.
  /// That of the files; the features are channels_first.
  array_layout layout = array_layout::channels_first;
  std::vector<bool> numbers{}; ///< By input of a table, as in `problem`.
  /// The columns of a table; empty where each input is a column without a name.
  std::vector<input_column> columns{};
  /// The columns that are scaled by their quartiles, as outliers make their deviation.
  std::vector<std::string> robust{};
  /// The stored form of how it was made (preprocessing.hpp).
  bytes preparation{};

  /// Returns the problem that networks for it must fit.
  [[nodiscard]] problem as_problem() const;
};

/// Reads, checks and splits. Errors name the file (and array) and its line (CSV) or byte:
/// a wrong number of columns, text in a number column, NaN or infinity, a class with one
/// member, a truncated gzip/IDX/npy, a target that is not there, a shape that does not
/// multiply up. `seed` decides the split, unless the parameters have one. Data that was
/// read before comes from the cache, the same bit for bit, checked, and with features
/// that all processes share. Otherwise reads the files once for each part; takes memory
/// for the features and little more.
[[nodiscard]] expected<data_set> load_data(const data_params& params, std::uint64_t seed,
                                           const data_cache& cache = users_cache());

} // namespace clade
