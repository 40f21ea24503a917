// The sentences:
//
//   changes = change ("; " change)*
//   change  = "add edge" edge | "add" operator "on" edge
//           | "remove edge" edge | "remove" node operator
//           | ("add" | "remove") "recurrent edge" edge "of" number ("step" | "steps")
//           | "widen" node name value "->" value | "narrow" likewise
//           | node operator "->" operator
//           | node name value "->" value               change_setting
//           | name value "->" value                    change_hyperparameter
//           | "sampled" | "unchanged" | "crossed" [", " remark]
//           | "goes on" ["from" candidate] "to epoch" number
//           | "trained to the end, for at most" number "epochs" ["without fold" i "of" k]
//           | "the seed" name
//           | any text                                 proposed, given
#include "genome/variation/change.hpp"

#include "genome/variation/mutation.hpp"

#include <algorithm>
#include <initializer_list>
#include <string_view>

namespace clade {

namespace {

/// Joins the words that are not empty by spaces.
std::string words(std::initializer_list<std::string_view> parts) {
  std::string text;
  for (const auto part : parts)
    if (!part.empty()) {
      text += text.empty() ? "" : " ";
      text += part;
    }
  return text;
}

bool is_mutation(change_kind kind) {
  return static_cast<std::size_t>(kind) < mutation_kind_count;
}

} // namespace

const char* to_text(change_kind kind) {
  switch (kind) {
  case change_kind::sampled:
    return "sampled";
  case change_kind::crossed:
    return "crossed";
  case change_kind::unchanged:
    return "unchanged";
  case change_kind::goes_on:
    return "goes_on";
  case change_kind::proposed:
    return "proposed";
  case change_kind::given:
    return "given";
  case change_kind::trained_to_end:
    return "trained_to_end";
  case change_kind::seeded:
    return "seeded";
  default:
    return mutation_kinds.at(static_cast<std::size_t>(kind)).name;
  }
}

std::string to_text(const change& c) {
  switch (c.kind) {
  case change_kind::add_node:
    return words({"add", c.after, c.gene.empty() ? "" : "on", c.gene});
  case change_kind::add_edge:
    return words({"add edge", c.gene});
  case change_kind::remove_node:
    return words({"remove", c.gene, c.before});
  case change_kind::remove_edge:
    return words({"remove edge", c.gene});
  case change_kind::add_recurrent_edge:
    return words({"add recurrent edge", c.gene, c.after.empty() ? "" : "of", c.after});
  case change_kind::remove_recurrent_edge:
    return words(
        {"remove recurrent edge", c.gene, c.before.empty() ? "" : "of", c.before});
  case change_kind::widen:
  case change_kind::narrow:
    return words({to_text(c.kind), c.gene, c.name, c.before, "->", c.after});
  case change_kind::change_operator:
  case change_kind::change_setting:
  case change_kind::change_hyperparameter:
    return words({c.gene, c.name, c.before, "->", c.after});
  case change_kind::crossed:
    return c.after.empty() ? "crossed" : "crossed, " + c.after;
  case change_kind::goes_on:
    return words(
        {"goes on", c.before.empty() ? "" : "from", c.before, "to epoch", c.after});
  case change_kind::proposed:
  case change_kind::given:
    return c.after;
  case change_kind::trained_to_end:
    return words({"trained to the end, for at most", c.after, "epochs", c.before});
  case change_kind::seeded:
    return "the seed " + c.name;
  default:
    return to_text(c.kind);
  }
}

std::string to_text(const std::vector<change>& changes) {
  std::string text;
  for (std::size_t i = 0; i < changes.size(); ++i)
    text += (i == 0 ? "" : "; ") + to_text(changes[i]);
  return text;
}

std::vector<change_kind> mutation_kinds_of(const std::vector<change>& changes) {
  std::vector<change_kind> kinds;
  for (const auto& c : changes)
    if (is_mutation(c.kind) && std::ranges::find(kinds, c.kind) == kinds.end())
      kinds.push_back(c.kind);
  return kinds;
}

} // namespace clade
