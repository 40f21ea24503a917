#pragma once

#include "engine/data/columns/examples.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace clade {

/// Returns the mark that separates the labels of lists such as "red|round": the first of
/// | ; and , that one of them has; else a blank.
[[nodiscard]] char separator_of(std::span<const std::string> lists);

/// Returns the labels of a list, without blanks around them; none of an empty one.
[[nodiscard]] std::vector<std::string_view> labels_of(std::string_view list,
                                                      char separator);

/// Makes the targets of examples whose classes are lists of labels: `classes` become the
/// labels in sorted order, and `targets` say of each whether an example has it.
void take_label_lists(examples& e);

/// Returns by label 1 where it is in the list, else 0, whichever mark separates its labels;
/// the first one that is unknown is put into `unknown`.
[[nodiscard]] std::vector<double> known_labels(std::string_view list,
                                               std::span<const std::string> labels,
                                               std::string& unknown);

/// Brings the targets of examples to the labels of others, in their order. An error names an
/// example that has another one.
[[nodiscard]] expected<void> align_labels(examples& e,
                                          std::span<const std::string> labels);

} // namespace clade
