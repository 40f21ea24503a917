#include "genome/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace clade {

std::string with_commas(std::uint64_t v) {
  std::string digits = std::to_string(v);
  for (std::size_t i = digits.size(); i > 3; i -= 3)
    digits.insert(i - 3, ",");
  return digits;
}

std::string metric_text(double v) {
  const auto size = std::fabs(v);
  // Beyond that, digits are no more than noise.
  constexpr double largest_in_full = 1e12;
  if (size != 0 && !(size >= 0.001 && size < largest_in_full))
    return fmt::format("{:.4g}", v);
  if (size < 100)
    return fmt::format("{:.4f}", v);
  auto text = fmt::format("{:.{}f}", size, size < 1000 ? 2 : size < 10'000 ? 1 : 0);
  // A thousand separator for each three digits before the point.
  for (auto at = std::min(text.find('.'), text.size()); at > 3; at -= 3)
    text.insert(at - 3, ",");
  return (v < 0 ? "-" : "") + text;
}

std::string counted(std::uint64_t n, std::string_view one, std::string_view several) {
  return with_commas(n).append(" ").append(n == 1 ? one : several);
}

std::string counted(std::uint64_t n, std::string_view one) {
  return counted(n, one, std::string(one) + "s");
}

std::string numbered(std::uint64_t id) {
  return fmt::format("#{}", id);
}

std::string_view trimmed(std::string_view text, std::string_view blanks) {
  const auto first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos)
    return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

std::string first_line_of(std::string_view text) {
  return std::string(text.substr(0, text.find('\n')));
}

std::string indented(std::string_view text, std::size_t by) {
  std::string out;
  while (!text.empty()) {
    const auto length = std::min(text.find('\n'), text.size() - 1) + 1;
    const auto line = text.substr(0, length);
    if (line != "\n")
      out.append(by, ' ');
    out += line;
    text.remove_prefix(length);
  }
  return out;
}

} // namespace clade
