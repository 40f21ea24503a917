#pragma once

#include <span>
#include <string>
#include <string_view>

namespace clade {

/// The known name nearest to `name`, for "did you mean": the fewest insertions,
/// deletions, replacements and swaps of neighbours (optimal string alignment), letters'
/// case aside. "" if none is near, which is to say within a third of the longer name.
/// Ties go to the first.
[[nodiscard]] std::string nearest(std::string_view name,
                                  std::span<const std::string> known);
[[nodiscard]] std::string nearest(std::string_view name,
                                  std::span<const std::string_view> known);

} // namespace clade
