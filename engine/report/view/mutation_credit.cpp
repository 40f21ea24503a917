#include "engine/report/view/mutation_credit.hpp"

#include <algorithm>

namespace clade {

namespace {

/// Empty: no change.
std::string name_of(const change& c) {
  switch (c.kind) {
  case change_kind::add_node:
    return "add layer";
  case change_kind::add_edge:
    return "add edge";
  case change_kind::remove_node:
    return "remove layer";
  case change_kind::remove_edge:
    return "remove edge";
  case change_kind::add_recurrent_edge:
    return "add recurrent edge";
  case change_kind::remove_recurrent_edge:
    return "remove recurrent edge";
  case change_kind::change_operator:
    return "change operator";
  case change_kind::widen:
    return "widen";
  case change_kind::narrow:
    return "narrow";
  case change_kind::change_setting:
    return "layer setting";
  case change_kind::change_hyperparameter:
    return c.name;
  case change_kind::crossed:
    return "crossing";
  case change_kind::proposed:
    return c.name.empty() ? "other" : c.name;
  case change_kind::given:
    return "other";
  case change_kind::sampled:
  case change_kind::unchanged:
  case change_kind::goes_on:
  case change_kind::trained_to_end:
  case change_kind::seeded:
    break;
  }
  return "";
}

} // namespace

std::vector<std::string> change_names(const std::vector<change>& changes) {
  std::vector<std::string> names;
  for (const auto& c : changes)
    if (auto name = name_of(c);
        !name.empty() && std::ranges::find(names, name) == names.end())
      names.push_back(std::move(name));
  return names;
}

void mutation_credit::add(const child_row& child) {
  if (!child.parent_fitness)
    return;
  if (rates_)
    rates_->add(mutation_kinds_of(child.changes),
                child.fitness
                    && (maximize_ ? *child.fitness > *child.parent_fitness
                                  : *child.fitness < *child.parent_fitness));
  const auto kinds = change_names(child.changes);
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
