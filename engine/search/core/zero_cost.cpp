#include "engine/search/core/zero_cost.hpp"

#include "genome/genes/hash.hpp"

#include <algorithm>

namespace clade {

namespace {

std::array<std::optional<double>, zero_cost_places::count>
listed(const zero_cost_scores& s) {
  return {s.synflow, s.jacob_cov, s.grad_norm};
}

} // namespace

zero_cost_scores scoring_log::score(const genome& g, candidate_id id) {
  const auto [at, unknown] = known_.try_emplace(canonical_hash(g), all_.size());
  if (unknown)
    all_.push_back(from_.score(g, id));
  return all_[at->second];
}

zero_cost_places::zero_cost_places(std::span<const zero_cost_scores> known) {
  for (const auto& one : known) {
    const auto scores = listed(one);
    for (std::size_t i = 0; i < count; ++i)
      if (scores[i])
        sorted_[i].push_back(*scores[i]);
  }
  for (auto& values : sorted_)
    std::ranges::sort(values);
}

std::array<double, zero_cost_places::count>
zero_cost_places::of(const zero_cost_scores& s) const {
  std::array<double, count> places{};
  const auto scores = listed(s);
  for (std::size_t i = 0; i < count; ++i) {
    const auto& all = sorted_[i];
    places[i] = 0.5;
    if (!scores[i] || all.empty())
      continue;
    const auto equal = std::ranges::equal_range(all, *scores[i]);
    const auto twice = (equal.begin() - all.begin()) + (equal.end() - all.begin());
    places[i] = 0.5 * static_cast<double>(twice) / static_cast<double>(all.size());
  }
  return places;
}

} // namespace clade
