// What genome/mutation.hpp and its neighbours write:
//
//   changes = change ("; " change)*
//   change  = "add edge" joint | "add" operator "on" joint
//           | "remove edge" joint | "remove" node operator
//           | "widen" node name value "->" value | "narrow" likewise
//           | node operator "(" ... "->" operator      change of an operator
//           | node name value "->" value               of a layer's setting
//           | name value "->" value                    of a hyperparameter
//   node    = "n" and hexadecimal digits | "output"
#include "genome/change_kind.hpp"

#include <algorithm>

namespace clade {

namespace {

bool is_node(std::string_view word) {
  if (word == "input" || word == "output")
    return true;
  return word.size() > 1 && word.front() == 'n'
         && word.find_first_not_of("0123456789abcdef", 1) == std::string_view::npos;
}

} // namespace

std::optional<change_kind> kind_of_change(std::string_view change) {
  const auto word = change.substr(0, change.find(' '));
  const auto rest = change.substr(std::min(word.size() + 1, change.size()));
  const bool edge = rest.starts_with("edge ");
  const auto arrow = rest.find(" -> ");
  if (word == "add" && !rest.empty())
    return edge ? change_kind::add_edge : change_kind::add_node;
  if (word == "remove" && !rest.empty())
    return edge ? change_kind::remove_edge : change_kind::remove_node;
  if (arrow == std::string_view::npos)
    return std::nullopt;
  if (word == "widen")
    return change_kind::widen;
  if (word == "narrow")
    return change_kind::narrow;
  if (!is_node(word))
    return change_kind::change_hyperparameter;
  // A layer without settings reads "relu", one that has some "conv(...)": a setting's
  // change alone has a value behind its name.
  const auto before = rest.substr(0, arrow);
  const bool is_operator = before.find('(') != std::string_view::npos
                           || before.find(' ') == std::string_view::npos;
  return is_operator ? change_kind::change_operator : change_kind::change_setting;
}

std::vector<change_kind> kinds_of_changes(std::string_view changes) {
  constexpr std::string_view between = "; ";
  std::vector<change_kind> kinds;
  while (!changes.empty()) {
    const auto end = std::min(changes.find(between), changes.size());
    if (const auto kind = kind_of_change(changes.substr(0, end));
        kind && std::ranges::find(kinds, *kind) == kinds.end())
      kinds.push_back(*kind);
    changes.remove_prefix(std::min(end + between.size(), changes.size()));
  }
  return kinds;
}

} // namespace clade
