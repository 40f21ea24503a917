#include "engine/search/bases/adaptive_rates.hpp"

namespace clade {

namespace {

constexpr double prior_children = 10;
constexpr double least_share = 0.25;

double mutation_params::*weight_of(std::size_t kind) {
  return mutation_kinds[kind].weight;
}

} // namespace

void adaptive_rates::count(const child& c, int by) {
  for (const auto kind : c.kinds) {
    children_of_[static_cast<std::size_t>(kind)] += by;
    paid_of_[static_cast<std::size_t>(kind)] += c.paid ? by : 0;
  }
}

void adaptive_rates::add(const std::vector<change_kind>& kinds, bool paid) {
  if (kinds.empty())
    return;
  children_.push_back({kinds, paid});
  count(children_.back(), 1);
  if (children_.size() <= window)
    return;
  count(children_.front(), -1);
  children_.pop_front();
}

mutation_params adaptive_rates::rates() const {
  double children = 0, paid = 0;
  for (std::size_t k = 0; k < mutation_kind_count; ++k) {
    children += static_cast<double>(children_of_[k]);
    paid += static_cast<double>(paid_of_[k]);
  }
  auto rates = base_;
  if (!(paid > 0))
    return rates;
  const double average = paid / children;
  for (std::size_t k = 0; k < mutation_kind_count; ++k) {
    const double quality = (static_cast<double>(paid_of_[k]) + prior_children * average)
                           / (static_cast<double>(children_of_[k]) + prior_children);
    rates.*weight_of(k) *= least_share + (1 - least_share) * quality / average;
  }
  return rates;
}

std::vector<adaptive_rates::credit> adaptive_rates::credits() const {
  const auto now = rates();
  std::vector<credit> all;
  for (std::size_t k = 0; k < mutation_kind_count; ++k)
    all.push_back({.kind = static_cast<change_kind>(k),
                   .children = static_cast<std::uint64_t>(children_of_[k]),
                   .paid = static_cast<std::uint64_t>(paid_of_[k]),
                   .base = base_.*weight_of(k),
                   .rate = now.*weight_of(k)});
  return all;
}

void mutation_learning::apply(breeding& order) const {
  if (adapt_ && !order.parents.empty())
    order.mutation = rates_.rates();
}

void mutation_learning::ordered(candidate_id id, const fitness& parent) {
  if (adapt_ && parent.ok)
    pending_.emplace(id, pending{.parent = parent});
}

void mutation_learning::born(const candidate& c) {
  if (const auto found = pending_.find(c.id); found != pending_.end())
    found->second.kinds = mutation_kinds_of(c.changes);
}

void mutation_learning::told(const individual& i) {
  if (const auto found = pending_.find(i.id); found != pending_.end())
    found->second.child = i.fitness;
}

void mutation_learning::settle() {
  for (auto p = pending_.begin(); p != pending_.end();) {
    const auto& [id, child] = *p;
    if (!child.child) {
      ++p;
      continue;
    }
    rates_.add(child.kinds,
               child.child->ok && child.child->primary > child.parent.primary);
    p = pending_.erase(p);
  }
}

void mutation_learning::change(const mutation_params& base) {
  adapt_ = base.adapt;
  rates_.change(base);
}

} // namespace clade
