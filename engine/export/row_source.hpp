#pragma once

#include "engine/data/preprocessing.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace clade {

/// Whether a model takes rows of texts, as a CSV has them, since some of their columns
/// are no numbers. Otherwise it takes numbers.
[[nodiscard]] bool takes_texts(const preprocessing& how);

/// The columns whose values a category has: its number, and the name of what holds them.
struct known_values {
  std::string name; ///< "values3", of the fourth column.
  const std::vector<std::string>& values;
};
[[nodiscard]] std::vector<known_values> known_values_of(const preprocessing& how);

/// Methods that make a row of texts the inputs of a network, in the Python that PyTorch
/// runs and TorchScript compiles alike: `encode(self, rows)` of List[List[str]] gives a
/// tensor [N, inputs], where NaN is a blank; it uses `self.values3` and the like. `sine`
/// and `cosine` are the functions of a number that there are: "math.sin", "torch.sin".
/// Each line is as at the left edge.
[[nodiscard]] std::string row_methods(const preprocessing& how, std::string_view sine,
                                      std::string_view cosine);

/// Of columns of numbers alone: where each input is taken from, an index into the columns
/// followed by as many that are 1 for a blank, else 0. Empty: the columns are the inputs.
[[nodiscard]] std::vector<std::int64_t> input_order(const preprocessing& how);

/// The sizes of one example as its file has it: [columns] of a table.
[[nodiscard]] tensor_shape sizes_in_file(const preprocessing& how);

/// The words that say yes or no (`field_yes_no`), in small letters; any case is meant.
[[nodiscard]] std::vector<std::string> yes_words();
[[nodiscard]] std::vector<std::string> no_words();

/// The spellings of a blank, in small letters; any case is meant.
[[nodiscard]] std::vector<std::string> blank_texts();

/// Returns `how.fills()`; empty where nothing replaces NaN in any input.
[[nodiscard]] std::vector<float> fills_of(const preprocessing& how);

} // namespace clade
