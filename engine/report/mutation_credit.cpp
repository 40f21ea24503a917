// Origins are what genome/mutation.hpp and its neighbours write:
//
//   change = "crossed" ["," why] | "unchanged" | "sampled"
//          | "goes on" ["from" id] "to epoch" number
//          | "add edge" joint | "add" operator "on" joint
//          | "remove edge" joint | "remove" node operator
//          | "widen" node name value "->" value | "narrow" likewise
//          | node operator "(" ... "->" operator      change of an operator
//          | node name value "->" value               of a layer's setting
//          | name value "->" value                    of a hyperparameter
//   node   = "n" and hexadecimal digits | "output"
#include "engine/report/mutation_credit.hpp"

#include "engine/report/explain.hpp"

#include <algorithm>

namespace clade {

namespace {

std::string_view first_word(std::string_view text) {
  return text.substr(0, text.find(' '));
}

bool is_node(std::string_view word) {
  if (word == "input" || word == "output")
    return true;
  return word.size() > 1 && word.front() == 'n'
         && word.find_first_not_of("0123456789abcdef", 1) == std::string_view::npos;
}

/// Empty: no change.
std::string kind_of(std::string_view part) {
  const auto word = first_word(part);
  const auto rest = part.substr(std::min(word.size() + 1, part.size()));
  if (part.empty() || part == "sampled" || part == "unchanged"
      || part.starts_with("goes on"))
    return "";
  if (part.starts_with("crossed"))
    return "crossing";
  if (word == "add" || word == "remove")
    return std::string(word) + (rest.starts_with("edge ") ? " edge" : " layer");
  if (word == "widen" || word == "narrow")
    return std::string(word);
  if (part.find(" -> ") == std::string_view::npos)
    return "other";
  if (!is_node(word))
    return std::string(word);
  // A layer without settings reads "relu", one that has some "conv(...)": a setting's
  // change alone has a value behind its name.
  const auto before = rest.substr(0, rest.find(" -> "));
  const bool is_operator = before.find('(') != std::string_view::npos
                           || before.find(' ') == std::string_view::npos;
  return is_operator ? "change operator" : "layer setting";
}

} // namespace

std::vector<std::string> change_kinds(std::string_view origin) {
  std::vector<std::string> kinds;
  for (const auto& part : parts_of(origin))
    if (auto kind = kind_of(part);
        !kind.empty() && std::ranges::find(kinds, kind) == kinds.end())
      kinds.push_back(std::move(kind));
  return kinds;
}

void mutation_credit::add(const child_row& child) {
  if (!child.parent_fitness)
    return;
  const auto kinds = change_kinds(child.origin);
  for (const auto& kind : kinds) {
    auto found = sums_.find(kind);
    if (found == sums_.end())
      found = sums_.emplace(kind, sum{.credit = {.kind = kind}}).first;
    auto& s = found->second;
    ++s.credit.children;
    s.credit.alone += kinds.size() == 1 ? 1 : 0;
    if (!child.fitness) {
      ++s.credit.failed;
      continue;
    }
    const auto change = *child.fitness - *child.parent_fitness;
    const bool better = maximize_ ? change > 0 : change < 0;
    s.credit.improved += better ? 1 : 0;
    if (s.compared == 0
        || (maximize_ ? change > s.credit.best_change : change < s.credit.best_change))
      s.credit.best_change = change;
    s.changes += change;
    ++s.compared;
  }
}

std::vector<change_credit> mutation_credit::credits() const {
  std::vector<change_credit> all;
  for (const auto& [kind, s] : sums_) {
    all.push_back(s.credit);
    if (s.compared > 0)
      all.back().mean_change = s.changes / static_cast<double>(s.compared);
  }
  std::ranges::stable_sort(all, std::greater<>(), &change_credit::children);
  return all;
}

} // namespace clade
