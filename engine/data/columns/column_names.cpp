#include "engine/data/columns/column_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace clade {

std::vector<repeated_name> number_equal_names(std::vector<std::string>& names) {
  const std::set<std::string> given(names.begin(), names.end());
  std::set<std::string> taken;
  std::vector<repeated_name> repeated;
  for (std::string& name : names) {
    if (name.empty() || taken.insert(name).second)
      continue;
    for (std::size_t n = 1;; ++n) {
      std::string other = fmt::format("{}.{}", name, n);
      if (given.contains(other) || !taken.insert(other).second)
        continue;
      if (std::ranges::find(repeated, name, &repeated_name::name) == repeated.end())
        repeated.push_back({name, other});
      name = std::move(other);
      break;
    }
  }
  return repeated;
}

} // namespace clade
