#pragma once

#include "engine/data/data_cache.hpp"
#include "engine/data/shared_floats.hpp"
#include "genome/error.hpp"
#include "genome/genome.hpp"
#include "search_spaces/network.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace clade {

enum class task_kind : std::uint8_t { classification, regression };

/// What becomes of a blank among a CSV's features (an empty field, "?" or "NA"): an
/// error, the mean of its column over the train part, or the row is left out.
enum class blank_rule : std::uint8_t { refuse, mean, drop };

/// `[data]` of an experiment.
struct data_params {
  /// CSV, a .npy array, a .npz archive, an IDX file of examples or a batch of CIFAR
  /// (.bin), each as it is or gzip.
  std::filesystem::path file;
  /// IDX, .npy or .npz file of targets where they are not in `file`.
  std::filesystem::path target_file;
  /// A separate file (and its targets) that is the test set; otherwise `test` is split
  /// off.
  std::filesystem::path test_file;
  std::filesystem::path test_target_file;
  /// Arrays of a .npz, with or without ".npy"; the only one needs no name. Targets are
  /// taken from `file` where there is no `target_file`, and the test set from the
  /// archives of the others where there is no `test_file`.
  std::string array, target_array;
  std::string test_array, test_target_array;
  /// The target column: its name, its number from 1, or "last".
  std::string target = "last";
  /// What a CSV's first line is: "names" of columns, "none" (a row), "counts"
  /// (scikit-learn's "150,4,setosa,versicolor,virginica"), or "auto" (found out; rules in
  /// csv.cpp).
  std::string header = "auto";
  task_kind task = task_kind::classification;
  /// `drop` also leaves out rows without a target; `mean` refuses them, and blanks among
  /// categories.
  blank_rule blanks = blank_rule::refuse;
  /// Columns of a CSV, by name or number, that hold texts: each becomes a column of 0 and
  /// 1 for each of its values (1,000 at most), in sorted order, in its place.
  std::vector<std::string> categories;
  /// Shape of one example; empty: a vector of all columns but the target, or what an
  /// array has
  /// ([n, 28, 28] holds examples of [1, 28, 28]).
  tensor_shape shape;
  /// Shares of the examples, relative to each other; stratified by class. Beside a test
  /// file the test share says nothing.
  double train = 0.6;
  double validation = 0.2;
  double test = 0.2;
  /// Use this many examples at most (of each file), drawn by the seed; 0: all.
  std::uint64_t limit = 0;
  /// The same of the test file alone, in the place of `limit`; 0: all of it.
  std::optional<std::uint64_t> test_limit = std::nullopt;
  /// Decides the split (and the limit) in the place of the experiment's seed. A fork with
  /// another seed has that of its origin here: what its networks were trained on must not
  /// come back as test data.
  std::optional<std::uint64_t> seed = std::nullopt;
};

/// Examples in memory, as plain numbers. Features are standardised by column over the
/// training part for vectors (but for the 0 and 1 of categories), and scaled to [0, 1] by
/// the largest value of the training part for images.
struct data_set {
  task_kind task = task_kind::classification;
  tensor_shape shape;
  std::size_t examples = 0;
  shared_floats features;           ///< [examples, shape...], row-major.
  std::vector<std::int64_t> labels; ///< [examples], for classification.
  std::vector<float> targets;       ///< [examples], for regression, standardised.
  double target_mean = 0;           ///< To undo the standardisation in reports.
  double target_deviation = 1;
  std::vector<std::string> classes;                   ///< Names by label.
  std::vector<std::uint32_t> train, validation, test; ///< Indices of examples.
  genome_hash checksum;                               ///< Of the files' bytes.

  /// What networks for it must fit.
  [[nodiscard]] problem as_problem() const;
};

[[nodiscard]] expected<void> validate(const data_params& params);

/// Reads, checks and splits. Errors name the file (and array) and its line (CSV) or byte:
/// a wrong
/// number of columns, text in a number column, NaN or infinity, a class with one member,
/// a truncated gzip/IDX/npy, a target that is not there, a shape that does not multiply
/// up. `seed` decides the split, unless the parameters have one. What was read before
/// comes from the cache, the same bit for bit, checked, and with features that all
/// processes share. Otherwise reads the files once for each part; takes memory for the
/// features and little more.
[[nodiscard]] expected<data_set> load_data(const data_params& params, std::uint64_t seed,
                                           const data_cache& cache = users_cache());

} // namespace clade
