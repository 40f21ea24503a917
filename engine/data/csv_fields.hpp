#pragma once

#include <charconv>
#include <limits>
#include <optional>
#include <string_view>

namespace clade {

/// A number as people and programs write it; nothing else may follow. NaN and infinities
/// are numbers here, so that they can be refused by name.
[[nodiscard]] inline std::optional<double> field_number(std::string_view field) {
  if (field.starts_with('+'))
    field.remove_prefix(1);
  double v = 0;
  const auto [end, status] =
      std::from_chars(field.data(), field.data() + field.size(), v);
  if (end != field.data() + field.size() || field.empty())
    return std::nullopt;
  if (status == std::errc::result_out_of_range)
    return std::numeric_limits<double>::infinity();
  if (status != std::errc{})
    return std::nullopt;
  return v;
}

[[nodiscard]] inline bool field_blank(std::string_view field) {
  return field.empty() || field == "?" || field == "NA";
}

} // namespace clade
