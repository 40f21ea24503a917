#pragma once

#include "engine/data/reading/preprocessing.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace clade {

/// Whether a model takes rows of texts, as a CSV has them, since some of their columns
/// are no numbers. Otherwise it takes numbers.
[[nodiscard]] bool takes_texts(const preprocessing& how);

/// Texts that the methods below look up, and the name of what holds them: of each
/// category its values ("values3", of the fourth column), and `number_marks`.
struct known_values {
  std::string name;
  const std::vector<std::string>& values;
};
[[nodiscard]] std::vector<known_values> known_values_of(const preprocessing& how);

/// Returns the characters that are written for a minus, a space or an apostrophe of a
/// number beside those of ASCII.
[[nodiscard]] const std::vector<known_values>& number_marks();

/// The names for functions that the Python of PyTorch and TorchScript share: "math.sin",
/// "torch.sin".
struct row_dialect {
  std::string_view sine, cosine, remainder; ///< Functions of doubles; as std::fmod.
  std::string_view doubles;                 ///< The type: "torch.float64".
};

/// `number(text, unit)`, which reads a number as the data file writes it, and `plain`, as
/// methods or as functions of a module. Each line is as at the left edge.
[[nodiscard]] std::string number_source(const preprocessing& how, bool methods);

/// Methods that make a row of texts the inputs of a network, in the Python that PyTorch
/// runs and TorchScript compiles alike: `encode(self, rows)` of List[List[str]] gives a
/// tensor [N, inputs] of doubles, where NaN is a blank; it uses `self.values3` and the
/// like. Each line is as at the left edge.
[[nodiscard]] std::string row_methods(const preprocessing& how,
                                      const row_dialect& dialect);

/// Whether raw examples are doubles, which lose nothing until they are scaled, rather than
/// floats, as pixels are.
[[nodiscard]] bool takes_doubles(const preprocessing& how);

/// For columns of numbers alone, returns the place that each input is taken from: an
/// index into the columns followed by as many that are 1 for a blank, else 0. Empty: the
/// columns are the inputs.
[[nodiscard]] std::vector<std::int64_t> input_order(const preprocessing& how);

/// The sizes of one example as its file has it: [columns] of a table.
[[nodiscard]] tensor_shape sizes_in_file(const preprocessing& how);

/// The words that say yes or no (`field_yes_no`), in small letters; any case is meant.
[[nodiscard]] std::vector<std::string> yes_words();
[[nodiscard]] std::vector<std::string> no_words();

/// The spellings of a blank, in small letters; any case is meant.
[[nodiscard]] std::vector<std::string> blank_texts();

/// Returns `how.fills()`; empty where nothing replaces NaN in any input.
[[nodiscard]] std::vector<double> fills_of(const preprocessing& how);

} // namespace clade
