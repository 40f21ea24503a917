#include "engine/training/parallel/exchange/replay_plan.hpp"

#include <algorithm>
#include <map>

// A log says which gradients each holder took in, and from which of its versions each was
// computed: a flow of data, in which a gradient waits for the versions that it is computed
// from, and a version for the gradients that make it. Here the flow is followed without
// computing anything: where it does not come to its end, no training had it.

namespace clade {
namespace {

using gradients_by_step = std::map<std::uint64_t, planned_gradient>;

class planning {
public:
  planning(epoch_updates updates, const exchange_rules& rules, std::uint64_t steps)
      : rules_(rules),
        steps_(steps),
        wanted_(rules.workers) {
    plan_.updates = std::move(updates);
  }

  expected<replay_plan> make() {
    if (!find_gradients() || !follow())
      return fail(error_kind::corrupt, "the log of updates is of another training");
    plan_deliveries();
    return std::move(plan_);
  }

private:
  [[nodiscard]] std::size_t each() const {
    return std::max<std::size_t>(1, rules_.taken);
  }
  bool find_gradients();
  bool note(std::size_t holder, std::size_t entry, std::vector<std::uint64_t>& counts);
  bool follow();
  bool advance(std::size_t holder);
  void plan_deliveries();

  exchange_rules rules_;
  std::uint64_t steps_;
  replay_plan plan_;
  /// The gradients that are wanted of each worker.
  std::vector<gradients_by_step> wanted_;
  std::vector<std::uint64_t> versions_; ///< The version of each holder.
  /// The number of gradients that each worker has computed.
  std::vector<std::size_t> computed_;
  /// The steps of each holder's entries.
  std::vector<std::vector<std::uint64_t>> step_of_;
};

// One entry of a log. Workers never go back to an earlier version.
bool planning::note(std::size_t holder, std::size_t entry,
                    std::vector<std::uint64_t>& counts) {
  const auto& u = plan_.updates[holder][entry];
  if (u.worker >= rules_.workers)
    return false;
  const std::uint64_t version = entry / each();
  const auto step = rules_.taken == 0 ? counts[u.worker] : version;
  if (step >= steps_ || u.staleness > version
      || (rules_.taken != 0 && (u.staleness != 0 || step < counts[u.worker])))
    return false;
  counts[u.worker] = step + 1;
  step_of_[holder].push_back(step);
  auto& g = wanted_[u.worker][step];
  g.step = step;
  g.versions.resize(rules_.holders);
  if (rules_.taken != 0)
    std::ranges::fill(g.versions, step);
  else if (rules_.reads(u.worker, holder))
    g.versions[holder] = version - u.staleness;
  return true;
}

bool planning::find_gradients() {
  if (plan_.updates.size() != rules_.holders)
    return false;
  step_of_.resize(rules_.holders);
  for (std::size_t h = 0; h < rules_.holders; ++h) {
    if (plan_.updates[h].size() != rules_.updates_of(steps_) * each())
      return false;
    std::vector<std::uint64_t> counts(rules_.workers);
    for (std::size_t i = 0; i < plan_.updates[h].size(); ++i)
      if (!note(h, i, counts))
        return false;
  }
  for (const auto& of_worker : wanted_) {
    auto& list = plan_.gradients.emplace_back();
    for (const auto& [step, g] : of_worker) {
      for (std::size_t h = 0; h < rules_.holders && !list.empty(); ++h)
        if (g.versions[h] < list.back().versions[h])
          return false;
      list.push_back(g);
    }
  }
  return true;
}

// The holder's next version, if all that it is made of is computed.
bool planning::advance(std::size_t h) {
  const auto first = versions_[h] * each();
  if (first >= plan_.updates[h].size())
    return false;
  for (auto i = first; i < first + each(); ++i) {
    const auto w = plan_.updates[h][i].worker;
    const auto& list = plan_.gradients[w];
    if (computed_[w] == 0 || list[computed_[w] - 1].step < step_of_[h][i])
      return false;
  }
  ++versions_[h];
  return true;
}

bool planning::follow() {
  versions_.assign(rules_.holders, 0);
  computed_.assign(rules_.workers, 0);
  const auto next_step = [&](std::size_t w) {
    const auto& list = plan_.gradients[w];
    return computed_[w] < list.size() ? list[computed_[w]].step : steps_;
  };
  const auto ready = [&](std::size_t w) {
    if (computed_[w] == plan_.gradients[w].size())
      return false;
    const auto& g = plan_.gradients[w][computed_[w]];
    for (std::size_t h = 0; h < rules_.holders; ++h)
      if (rules_.reads(w, h) && versions_[h] < g.versions[h])
        return false;
    return true;
  };
  for (bool goes_on = true; goes_on;) {
    goes_on = false;
    for (std::size_t w = 0; w < rules_.workers; ++w) {
      if (!ready(w))
        continue;
      std::uint64_t least = steps_;
      for (std::size_t other = 0; other < rules_.workers; ++other)
        least = std::min(least, next_step(other));
      plan_.lookahead = std::max(plan_.lookahead, next_step(w) - least);
      ++computed_[w];
      goes_on = true;
    }
    for (std::size_t h = 0; h < rules_.holders; ++h)
      while (advance(h))
        goes_on = true;
  }
  for (std::size_t w = 0; w < rules_.workers; ++w)
    if (computed_[w] != plan_.gradients[w].size())
      return false;
  for (std::size_t h = 0; h < rules_.holders; ++h)
    if (versions_[h] != rules_.updates_of(steps_))
      return false;
  return true;
}

// A worker that computes two gradients from one version gets it once; the first it has.
void planning::plan_deliveries() {
  plan_.deliveries.resize(rules_.holders);
  for (std::size_t h = 0; h < rules_.holders; ++h) {
    auto& list = plan_.deliveries[h];
    for (std::size_t w = 0; w < rules_.workers; ++w) {
      std::uint64_t last = 0;
      for (const auto& g : plan_.gradients[w])
        if (rules_.reads(w, h) && g.versions[h] != last)
          list.push_back({.version = last = g.versions[h], .worker = w});
    }
    std::ranges::stable_sort(list, {}, &replay_plan::delivery::version);
  }
}

} // namespace

expected<replay_plan> plan_replay(epoch_updates updates, const exchange_rules& rules,
                                  std::uint64_t steps) {
  return planning(std::move(updates), rules, steps).make();
}

} // namespace clade
