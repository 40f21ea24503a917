#include "engine/report/mutation_credit.hpp"

#include "engine/report/explain.hpp"

#include <algorithm>
#include <charconv>

namespace clade {

namespace {

/// Empty: no change.
std::string kind_of(std::string_view part) {
  if (part.empty() || part == "sampled" || part == "unchanged"
      || part.starts_with("goes on"))
    return "";
  if (part.starts_with("crossed"))
    return "crossing";
  if (part.ends_with("by TPE"))
    return "TPE";
  const auto kind = kind_of_change(part);
  if (!kind)
    return "other";
  switch (*kind) {
  case change_kind::add_node:
    return "add layer";
  case change_kind::add_edge:
    return "add edge";
  case change_kind::remove_node:
    return "remove layer";
  case change_kind::remove_edge:
    return "remove edge";
  case change_kind::change_operator:
    return "change operator";
  case change_kind::widen:
    return "widen";
  case change_kind::narrow:
    return "narrow";
  case change_kind::change_setting:
    return "layer setting";
  case change_kind::change_hyperparameter:
    break;
  }
  return std::string(part.substr(0, part.find(' ')));
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

std::optional<mutation_params>
adapting_mutation(const std::map<std::string, std::string>& settings) {
  const auto of = [&](const std::string& name) {
    const auto found = settings.find("evolution.mutation." + name);
    return found == settings.end() ? std::string() : found->second;
  };
  if (of("adapt") != "true")
    return std::nullopt;
  mutation_params params;
  for (const auto& kind : change_kind_table)
    if (const auto text = of(kind.name); !text.empty())
      std::from_chars(text.data(), text.data() + text.size(), params.*kind.weight);
  return params;
}

void mutation_credit::add(const child_row& child) {
  if (!child.parent_fitness)
    return;
  if (rates_)
    rates_->add(kinds_of_changes(child.origin),
                child.fitness
                    && (maximize_ ? *child.fitness > *child.parent_fitness
                                  : *child.fitness < *child.parent_fitness));
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

std::vector<adaptive_rates::credit> mutation_credit::rates() const {
  return rates_ ? rates_->credits() : std::vector<adaptive_rates::credit>{};
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
