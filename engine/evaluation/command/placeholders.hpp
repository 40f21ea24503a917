#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace clade {

// A placeholder is a name of letters, digits and "_" in braces, {learning_rate}, that
// begins with no digit. In double braces, {{name}}, it stands for {name} itself. All
// other braces are what they are, so that JSON needs no doubling.

/// Returns the names that stand in braces, in their order.
[[nodiscard]] std::vector<std::string> placeholders_of(std::string_view text);

/// Returns `text` with what `value_of` says in the place of each name; where that is
/// nothing, the name stays in its braces.
[[nodiscard]] std::string fill_placeholders(
    std::string_view text,
    const std::function<std::optional<std::string>(const std::string& name)>& value_of);

} // namespace clade
