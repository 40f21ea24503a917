#pragma once

#include "engine/data/columns/array_layout.hpp"
#include "engine/data/columns/column_encoding.hpp"
#include "engine/data/columns/forecast_params.hpp"
#include "engine/data/columns/learning_task.hpp"
#include "genome/base/error.hpp"
#include "search_spaces/operators/shape.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace clade {

/// The rules for a blank among a CSV's features (`field_blank`):
///   * refuse: it is an error;
///   * mean: the mean of its column over the train part takes its place;
///   * drop: the row is left out;
///   * impute: the mean of each input takes its place, and where the train part has
///     blanks in the column, a further input says so; in a category, the blank is a
///     value.
enum class blank_rule : std::uint8_t { refuse, mean, drop, impute };

/// The rule by which a column of numbers is centred and scaled, so that networks can take
/// it:
///   * automatic: its mean and deviation; where a few gross outliers alone make the
///     deviation, its median and quartiles (robust_scale.hpp has the rule);
///   * deviation: its mean and deviation.
enum class scale_rule : std::uint8_t { automatic, deviation };

/// The inputs of a column of texts:
///   * scores: those of a linear model of all its terms, and the few that tell most;
///   * terms: those that tell most.
enum class text_rule : std::uint8_t { scores, terms };

/// A column, by name or number, and what it is.
struct column_choice {
  std::string column;
  encoding_kind kind = encoding_kind::number;

  friend bool operator==(const column_choice&, const column_choice&) = default;
};

/// How rows are dealt out to the three parts:
///   * random: by the seed, each class evenly;
///   * time: in order of a column of dates or numbers, train first, then validation;
///   * group: rows with the same value of a column stay together.
enum class split_rule : std::uint8_t { random, time, group };

/// `[data]` of an experiment.
struct data_params {
  /// CSV, a .npy array, a .npz archive, an IDX file of examples, a batch of CIFAR (.bin)
  /// or series (.ts, .arff), each as it is or gzip; or a folder with a folder of images
  /// or of texts for each class.
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
  /// The target column: its name, its number from 1, or "last". If it is of labels,
  /// it holds lists, such as "red|round", unless there is a column for each (`targets`).
  std::string target = "last";
  /// The columns of several targets, in the place of `target`: numbers, or of labels whether
  /// a row has each (1 or 0, yes or no). In a forecast each is a series of its own. Empty:
  /// there is one.
  std::vector<std::string> targets;
  /// The column that says how much each row counts in training: a number from 0 on, 2 of a
  /// row that counts as two. Empty: all count the same.
  std::string weights;
  /// The kind of a CSV's first line: "names" of columns, "none" (a row), "counts"
  /// (scikit-learn's "150,4,setosa,versicolor,virginica"), or "auto" (found out; rules in
  /// csv_head.cpp). "line 3" means that names stand there, and no table before it.
  std::string header = "auto";
  learning_task task = classification;
  /// The quantiles that the task "quantiles" predicts: above 0, below 1, in rising order.
  std::vector<double> quantiles{0.1, 0.5, 0.9};
  /// `impute` and `drop` also leave out rows without a target; the others refuse them.
  /// `mean` refuses blanks among categories.
  blank_rule blanks = blank_rule::impute;
  /// The kinds of the columns of a CSV; columns of which nothing is said are numbers,
  /// unless `infer_columns` fills them in.
  std::vector<column_choice> columns;
  /// Columns that are categories, of at most 1,000 values each.
  std::vector<std::string> categories;
  /// Columns that networks are not given.
  std::vector<std::string> ignore;
  /// The delimiter between the fields of a CSV: one of , ; | and tab, or "auto", or
  /// "first blank": a row is the first word of a line and the text behind it.
  std::string delimiter = "auto";
  /// The mark before the decimals of its numbers: "." or ",", or "auto".
  std::string decimal = "auto";
  /// "utf-8", "utf-16", "latin-1" or "auto".
  std::string encoding = "auto";
  scale_rule scale = scale_rule::automatic;
  text_rule texts = text_rule::scores;
  /// The column of a CSV that names files of images, which are the examples then; its
  /// other columns but the target are not used. Empty: there is none.
  std::string images;
  /// The folder at which the paths of that column begin; empty: that of `file`.
  std::filesystem::path image_folder;
  /// The share of images that may be left out since they cannot be decoded.
  double unreadable = 0.01;
  forecast_params forecast;
  /// Shape of one example; empty: a vector of all columns but the target, or what an
  /// array has ([n, 28, 28] holds examples of [1, 28, 28]); of series [steps, channels].
  tensor_shape shape;
  /// The order of sizes in an array of images of several channels; `automatic` is
  /// resolved by `find_layout`.
  array_layout layout = array_layout::automatic;
  /// Shares of the examples, relative to each other. Beside a test file the test share
  /// says nothing.
  double train = 0.6;
  double validation = 0.2;
  double test = 0.2;
  split_rule split_by = split_rule::random;
  std::string split_column; ///< The column of the times or the groups, by name or number.
  /// Use this many examples at most (of each file), drawn by the seed; 0: all.
  std::uint64_t limit = 0;
  /// The same of the test file alone, in the place of `limit`; 0: all of it.
  std::optional<std::uint64_t> test_limit = std::nullopt;
  /// Decides the split (and the limit) in the place of the experiment's seed. A fork with
  /// another seed has that of its origin here: what its networks were trained on must not
  /// come back as test data.
  std::optional<std::uint64_t> seed = std::nullopt;
};

/// `params` as experiments had them before there were `columns`: what a resolved
/// experiment that does not say these things means.
[[nodiscard]] data_params params_of_first_runs();

/// Returns 3 of a header "line 3", up to line 1000; nothing of another word.
[[nodiscard]] std::optional<std::uint64_t> line_of_names(std::string_view header);

/// Whether the values can be meant, before any file is looked at.
[[nodiscard]] expected<void> validate(const data_params& params);

/// Whether the shares sum up to 1, or are whole numbers of parts (8, 1 and 1). Parameters
/// that were stored may have shares that do not, which are relative to each other.
[[nodiscard]] expected<void> check_shares(const data_params& params);

} // namespace clade
