#include "search_spaces/toml/spelling.hpp"

#include "search_spaces/toml/parameter_reader.hpp"

#include <array>
#include <utility>

namespace clade {

namespace {

struct spelling {
  std::string_view american, british;
  bool hashed; ///< Earlier versions wrote the British one.
};

constexpr std::array spellings{
    spelling{"optimizer", "optimiser", true},
    spelling{"regularized", "regularised", true},
    spelling{"maximize", "maximise", false},
    spelling{"minimize", "minimise", false},
};

} // namespace

std::string_view american(std::string_view name) {
  for (const auto& s : spellings)
    if (s.british == name)
      return s.american;
  return name;
}

std::string_view spelling_of_hashes(std::string_view name) {
  for (const auto& s : spellings)
    if (s.american == name && s.hashed)
      return s.british;
  return name;
}

void use_american_keys(toml::table& table) {
  for (const auto& s : spellings) {
    const auto there = table.find(s.british);
    if (there == table.end() || table.contains(s.american))
      continue;
    table.insert(s.american, std::move(there->second));
    table.erase(s.british);
  }
}

} // namespace clade
