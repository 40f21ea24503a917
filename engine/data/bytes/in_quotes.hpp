#pragma once

#include <span>
#include <string>
#include <string_view>

namespace clade {

/// Text of a file as a message may hold it: its first 40 bytes, on one line, with "?" in
/// the place of what a terminal would obey.
[[nodiscard]] std::string printable(std::string_view text);

/// The same in quotation marks.
[[nodiscard]] std::string in_quotes(std::string_view text);

/// "a", "b", ...: the first twelve.
[[nodiscard]] std::string all_in_quotes(std::span<const std::string> texts);

} // namespace clade
