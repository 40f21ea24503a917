#include "engine/search/core/parameter_checks.hpp"

#include "search_spaces/operators/nearest.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace clade {

tl::unexpected<error> wrong_parameter(const char* key, const std::string& given,
                                      const std::string& advice) {
  return fail(error_kind::invalid_input,
              fmt::format("evolution.{} is {}: {}", key, given, advice));
}

expected<void> check_number(const char* key, std::size_t given, std::size_t low,
                            std::size_t high) {
  if (given >= low && given <= high)
    return {};
  return wrong_parameter(key, std::to_string(given),
                         fmt::format("it must be from {} to {}", low, high));
}

expected<void> check_word(const char* key, const std::string& given,
                          std::vector<std::string> known, const char* resolved) {
  if (std::find(known.begin(), known.end(), given) != known.end())
    return {};
  if (resolved != nullptr)
    known.insert(known.begin(), resolved);
  const auto quoted = fmt::format("\"{}\"", given);
  if (const auto near = nearest(given, known); !near.empty())
    return wrong_parameter(key, quoted, fmt::format("did you mean \"{}\"?", near));
  std::string list;
  for (const auto& k : known)
    list += fmt::format("{}{}\"", list.empty() ? "\"" : ", \"", k);
  return wrong_parameter(key, quoted, "it must be one of " + list);
}

} // namespace clade
