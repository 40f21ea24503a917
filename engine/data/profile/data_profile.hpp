#pragma once

#include "engine/data/columns/array_layout.hpp"
#include "engine/data/columns/split.hpp"
#include "engine/data/folders/class_folder.hpp"
#include "engine/data/reading/data_set.hpp"
#include "engine/data/tables/table_profile.hpp"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace clade {

/// The meaning of columns that may be the steps of a series in each row.
enum class row_rule : std::uint8_t {
  automatic, ///< Steps, if they look like it.
  columns,   ///< Columns, each of a kind of its own.
  series,    ///< Steps.
};

/// The facts that somebody gives of data of which nothing else is known.
struct profile_request {
  std::filesystem::path file;
  /// The target's column, by name or number; or the file of the targets; or empty.
  std::string target;
  std::vector<std::string> targets{}; ///< Several columns, in the place of `target`.
  std::string weights{}; ///< The column that says how much each row counts; or empty.
  std::optional<learning_task> task;
  /// The quantiles to predict; empty: those that `data_params` has. Others make the task
  /// "quantiles" where none is said.
  std::vector<double> quantiles{};
  array_layout layout = array_layout::automatic; ///< The layout of an array of images.
  std::filesystem::path test_file; ///< A test set; empty: one that lies beside, if any.
  /// For a CSV, `data_params::header` and `data_params::decimal`.
  std::string header = "auto", decimal = "auto";
  std::string array{}; ///< The table or sheet, where the file has several.
  row_rule rows_are = row_rule::automatic;
  /// A horizon above 0: the table holds series that are to be forecast; without one, series
  /// with a target each, if columns tell them apart.
  forecast_params forecast{};
};

/// How a target was found.
enum class target_reason : std::uint8_t {
  asked,     ///< The request names it.
  named,     ///< It is named like a target ("target", "label", "class", "y").
  suggested, ///< It alone is named like what people predict ("price", "churned").
  last,      ///< It is the last column.
  labels,    ///< The format has labels (CIFAR), or a file or array of them lies beside.
  beside_texts, ///< It alone can be one; all others are texts.
};

/// How rows are dealt to train, validation and test, and why.
enum class split_kind : std::uint8_t {
  shuffled,   ///< Numbers are predicted.
  stratified, ///< Classes are predicted: each part has its share of each.
  by_time,    ///< `split_column` orders the rows: the last of them are the test part.
  by_steps,   ///< The last steps of each series that is forecast are the test part.
  by_group,   ///< `split_column` names what rows belong to: a group is in one part.
};

enum class suspicion_kind : std::uint8_t {
  gives_target_away, ///< `column` alone predicts the target in `share` of unseen rows.
  blanks_give_away,  ///< So does, whether `column` is blank.
  make_up_target,    ///< The columns `names` together are the target; `value` is "sum" or
                     ///< "product".
  repeated_rows,     ///< `count` rows are equal to an earlier one.
  lone_class,        ///< The classes `names`, `count` of them, have one row each.
  small_class,       ///< The classes `names`, `count` of them, have two rows each.
  alike_classes,  ///< The classes `names` differ by case or blanks alone, and so do the
                  ///< classes of `count` - 1 other groups.
  unbalanced,     ///< Class `value` has `share` of the rows, 95 percent or more.
  blank_target,   ///< `count` rows have no target.
  mostly_blank,   ///< `column` is blank in `share` of the rows, half or more.
  mostly_numbers, ///< `column` holds numbers but for `value` and its like.
  infinite,       ///< `column` holds numbers, of which `count` are infinite.
  alike_values,   ///< It means the same as `alike_classes`, for the values of `column`.
  unclear_dates,  ///< The day and the month of `column` can be swapped.
  few_rows,       ///< There are only `count` rows, below 100.
  named_twice,    ///< Several columns are named `value`; the second is called `column`.
  many_classes,   ///< The target has `count` classes, more than a tenth of the rows.
  no_forecast,    ///< `column` orders the rows in time, but each is predicted alone.
  unused_arrays,  ///< Nothing is made of the arrays `names`.
  reading,        ///< The sentence `value` says how the file was read.
  mixed_units,    ///< Numbers of `column` have another unit, such as `value`, or none.
  no_days,        ///< `count` dates of `column`, such as `value`, are in no calendar.
  mostly_dates,   ///< `column` holds dates but for `value` and its like.
  outlier,        ///< `column` is scaled robustly, as it has the number `share`.
};

struct suspicion {
  suspicion_kind kind = suspicion_kind::few_rows;
  std::string column; ///< Its label, see `data_profile::label`.
  std::string target; ///< The label of the target, where there are several.
  std::string value;
  std::uint64_t count = 0;
  double share = 0;
  std::vector<std::string> names; ///< The first few names of classes, values or columns.

  friend bool operator==(const suspicion&, const suspicion&) = default;
};

/// Columns of a table that stand side by side.
struct step_columns {
  std::size_t first = 0, count = 0;

  [[nodiscard]] bool has(std::size_t column) const {
    return column >= first && column - first < count;
  }
};

/// The format of a folder of images.
inline constexpr std::string_view images_format = "images";

/// The facts that a look at data shows, and the settings that are best for it.
struct data_profile {
  std::string format;         ///< "CSV", "NumPy array", or `images_format`
  std::filesystem::path file; ///< The file as the request has it.
  std::uint64_t rows = 0;
  std::string header = "none"; ///< For a table: `data_params::header`, never "auto".
  /// For a table with titles before the names: the line in which these stand; else 0.
  std::uint64_t names_line = 0;
  std::string delimiter = ","; ///< These and the next two are facts of a table.
  char decimal = '.';
  std::string encoding = "utf-8";
  table_profile table; ///< Its columns, the target's among them; else empty.
  std::filesystem::path target_file; ///< The file of the targets, if they are elsewhere.
  std::string array, target_array;   ///< The arrays of a .npz.
  /// The arrays of the test set, in `file` if there is no `test_file`.
  std::string test_array, test_target_array;
  std::vector<std::string> unused_arrays; ///< Arrays of a .npz of which nothing is made.
  /// A test set that lies beside; its targets, where those are not in it.
  std::filesystem::path test_file, test_target_file;
  std::optional<std::size_t> target_column; ///< The first of several.
  std::vector<std::size_t> targets;         ///< The columns of several; else empty.
  std::optional<std::size_t> weights;       ///< The column of how much each row counts.
  target_reason target_found = target_reason::last;
  learning_task task = classification;
  std::vector<double> quantiles{};  ///< The quantiles that the request names.
  std::size_t outputs = 1;          ///< Targets of each example of an array of them.
  column_profile target;            ///< Its values.
  bool target_whole = false;        ///< They are of a type for whole numbers.
  bool task_guessed = true;         ///< Nobody said `task`.
  std::vector<value_count> classes; ///< The most frequent first; of classification.
  /// The shape of an array's example; of a table [columns used].
  tensor_shape shape;
  std::string layout; ///< For an array of images with channels: "channels_last" or
                      ///< "channels_first"; else empty.
  /// The label of the column of a table that names files of images, and the folder at
  /// which its paths begin where that is not the table's own.
  std::string images;
  std::filesystem::path image_folder;
  /// The images that a table names, by their class or, of numbers, in four ranges that hold as
  /// many each; of several targets all together.
  std::shared_ptr<const class_folder> listed_images;
  std::string image_sizes;    ///< The sizes of files: "32 x 32 to 640 x 480 pixels".
  step_columns steps{};       ///< The steps of a table whose rows are series each.
  forecast_params forecast{}; ///< Nothing in it is left open.
  std::uint64_t windows = 0;  ///< How many examples a forecast makes of the rows.
  split_kind split = split_kind::shuffled;
  std::string split_column;
  std::vector<suspicion> suspicions;

  /// The shares of the parts. If there are many examples, a tenth tells networks apart, and
  /// of very many 50,000 rows of a table do, or 10,000 images or series.
  [[nodiscard]] split_shares shares() const;
  /// "plan", or "3" where the column has no name or shares it: what an experiment calls
  /// it.
  [[nodiscard]] std::string label(std::size_t column) const;
  /// The labels of `targets`.
  [[nodiscard]] std::vector<std::string> target_labels() const;
  [[nodiscard]] bool several() const { return !targets.empty() || outputs > 1; }
  [[nodiscard]] bool is_target(std::size_t column) const {
    return target_column == column || std::ranges::find(targets, column) != targets.end();
  }
  /// Whether a column is no input: the target, one of several, or the weights.
  [[nodiscard]] bool is_apart(std::size_t column) const {
    return is_target(column) || weights == column;
  }
  /// Adds a sentence to what `clade new` says.
  void note(std::string sentence) {
    suspicions.push_back({.kind = suspicion_kind::reading, .value = std::move(sentence)});
  }
  /// Whether a column says which series, or which step of one, a row of a table is.
  [[nodiscard]] bool names_steps(std::size_t column) const;
  /// Whether a column of a table of series (`forecast.of_examples`) holds values of them.
  [[nodiscard]] bool is_channel(std::size_t column) const;
  /// Whether an example is an image.
  [[nodiscard]] bool image() const { return shape.layout() == layout::image; }
  /// Whether an example is a series.
  [[nodiscard]] bool series() const { return shape.layout() == layout::sequence; }
  /// Whether it has the three channels of a photograph.
  [[nodiscard]] bool colored() const { return image() && shape.sizes.front() == 3; }
};

/// A kind of data that profiles can be made of. A new kind is a new row of
/// data_profile.cpp.
struct data_kind {
  std::string_view name;
  bool (*recognises)(const std::filesystem::path& file, std::string_view first_bytes);
  expected<data_profile> (*profile)(const profile_request& request);
};

[[nodiscard]] std::span<const data_kind> data_kinds();

/// Looks at all of the data. Errors are those of reading it; besides, a target that is
/// not there, or that nothing points to: then the message names the columns that could be
/// meant.
[[nodiscard]] expected<data_profile> profile_data(const profile_request& request);

} // namespace clade
