#include "engine/data/bytes/natural_order.hpp"

#include <algorithm>
#include <utility>

namespace clade {

bool in_natural_order(std::string_view a, std::string_view b) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto digits = [&](std::string_view text) {
    return static_cast<std::size_t>(std::ranges::find_if_not(text, is_digit)
                                    - text.begin());
  };
  const auto whole_a = a, whole_b = b;
  while (!a.empty() && !b.empty()) {
    const auto n = digits(a), m = digits(b);
    if (n > 0 && m > 0) {
      const auto value = [](std::string_view text, std::size_t length) {
        const auto first = std::min(text.find_first_not_of('0'), length);
        return text.substr(first, length - first);
      };
      const auto x = value(a, n), y = value(b, m);
      if (x.size() != y.size() || x != y)
        return std::pair(x.size(), x) < std::pair(y.size(), y);
      a.remove_prefix(n);
      b.remove_prefix(m);
      continue;
    }
    if (a.front() != b.front())
      return a.front() < b.front();
    a.remove_prefix(1);
    b.remove_prefix(1);
  }
  if (a.empty() != b.empty())
    return a.empty();
  return whole_a < whole_b;
}

} // namespace clade
