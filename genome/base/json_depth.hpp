#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace clade {

/// The JSON that Clade reads is never deeper than a few levels.
inline constexpr std::size_t deepest_json = 64;

/// Says whether no more than `deepest` lists and objects of the JSON `text` lie in each
/// other, and whether it has no more than `most` values. To be asked before a parser is:
/// copying, comparing and writing a value recurse in nlohmann::json, each level takes
/// memory, and so does each value, of which "0," has one. Text that is no JSON has any
/// answer.
[[nodiscard]] bool nests_within(std::string_view text, std::size_t deepest = deepest_json,
                                std::size_t most = SIZE_MAX);

/// Parses text that is JSON of that depth; null, of which no caller's format consists,
/// where it is not. `Json`: nlohmann::json, which this folder does not know.
template<class Json>
[[nodiscard]] Json parse_shallow(std::string_view text) {
  return nests_within(text) ? Json::parse(text, nullptr, /*allow_exceptions=*/false)
                            : Json();
}

} // namespace clade
