#include "engine/search/core/parameter_checks.hpp"

#include "search_spaces/operators/nearest.hpp"

#include <algorithm>

namespace clade {

tl::unexpected<error> wrong_parameter(const char* key, const std::string& given,
                                      const std::string& advice) {
  return fail(error_kind::invalid_input,
              "evolution." + std::string(key) + " is " + given + ": " + advice);
}

expected<void> check_number(const char* key, std::size_t given, std::size_t low,
                            std::size_t high) {
  if (given >= low && given <= high)
    return {};
  return wrong_parameter(key, std::to_string(given),
                         "it must be from " + std::to_string(low) + " to "
                             + std::to_string(high));
}

expected<void> check_word(const char* key, const std::string& given,
                          std::vector<std::string> known, const char* resolved) {
  if (std::find(known.begin(), known.end(), given) != known.end())
    return {};
  if (resolved != nullptr)
    known.insert(known.begin(), resolved);
  const auto quoted = "\"" + given + "\"";
  if (const auto near = nearest(given, known); !near.empty())
    return wrong_parameter(key, quoted, "did you mean \"" + near + "\"?");
  std::string list;
  for (const auto& k : known)
    list += (list.empty() ? "\"" : ", \"") + k + "\"";
  return wrong_parameter(key, quoted, "it must be one of " + list);
}

} // namespace clade
