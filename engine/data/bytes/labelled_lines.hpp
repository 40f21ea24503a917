#pragma once

#include <string_view>

namespace clade {

/// Whether the lines of a text, which may be sorted, are a label and a sentence each: ten at
/// least, nine of ten of which go on with three words and more behind their first word, and
/// the first words are few: 2 to 60, and a fifth of the lines at most.
[[nodiscard]] bool begins_with_labels(std::string_view text);

} // namespace clade
