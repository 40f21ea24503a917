#include "engine/config/experiment/misplaced_key.hpp"

#include "engine/config/experiment/reference.hpp"
#include "genome/base/text.hpp"
#include "search_spaces/operators/nearest.hpp"

#include <fmt/format.h>

namespace clade {
namespace {

/// Returns the paths of the keys that have the name nearest to that one.
std::vector<std::string> paths_of_nearest(const std::string& name) {
  const auto sections = experiment_reference();
  std::vector<std::string> names;
  for (const auto& section : sections)
    for (const auto& key : section.keys)
      names.push_back(key.name);
  const auto near = nearest(name, names);
  std::vector<std::string> paths;
  for (const auto& section : sections)
    for (const auto& key : section.keys)
      if (key.name == near)
        paths.push_back(fmt::format("\"{}.{}\"", section.name, key.name));
  return paths;
}

} // namespace

void refuse_misplaced_keys(table_reader& root) {
  constexpr std::size_t most = 3;
  for (const std::string& name : root.names()) {
    if (root.holds_table(name))
      continue;
    if (auto paths = paths_of_nearest(name); !paths.empty()) {
      if (paths.size() > most)
        paths.resize(most);
      root.fail(name, fmt::format("unknown key \"{}\"; did you mean {}?", name,
                                  enumerated(paths, " or ")));
    }
  }
}

} // namespace clade
