#include "engine/search/bases/rungs.hpp"

#include "engine/search/core/front_order.hpp"
#include "engine/search/core/selection.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace clade {

namespace {

constexpr std::size_t longest_window = 1'000;

/// Returns how many times the one of two numbers is the other, at least 1.
double ratio(double a, double b) {
  return a > b ? a / b : b / a;
}

} // namespace

std::vector<std::uint32_t> rungs_of(const std::vector<std::uint32_t>& fidelities,
                                    std::size_t eta) {
  std::vector<std::uint32_t> rungs;
  if (fidelities.empty())
    return rungs;
  const auto step = static_cast<double>(std::max<std::size_t>(eta, 2));
  const double first = fidelities.front();
  for (double target = fidelities.back(); target >= first; target /= step) {
    const auto nearest = *std::min_element(fidelities.begin(), fidelities.end(),
                                           [&](std::uint32_t a, std::uint32_t b) {
                                             return ratio(a, target) < ratio(b, target);
                                           });
    if (rungs.empty() || nearest < rungs.back())
      rungs.push_back(nearest);
  }
  std::reverse(rungs.begin(), rungs.end());
  return rungs;
}

std::vector<std::uint32_t> rungs_of(std::uint32_t epochs, std::size_t eta) {
  std::vector<std::uint32_t> rungs;
  const auto step = static_cast<double>(std::max<std::size_t>(eta, 2));
  for (double target = epochs; target >= 1; target /= step) {
    const auto nearest =
        std::max<std::uint32_t>(1, static_cast<std::uint32_t>(std::floor(target + 0.5)));
    if (rungs.empty() || nearest < rungs.back())
      rungs.push_back(nearest);
  }
  std::reverse(rungs.begin(), rungs.end());
  return rungs;
}

std::vector<std::uint32_t> even_rungs(std::uint32_t epochs, std::size_t count) {
  const auto most = std::min<std::uint64_t>(epochs, std::max<std::size_t>(count, 1));
  std::vector<std::uint32_t> rungs;
  for (std::uint64_t i = 1; i <= most; ++i)
    rungs.push_back(static_cast<std::uint32_t>((epochs * i + most - 1) / most));
  return rungs;
}

std::size_t reduction_by(const std::vector<std::uint32_t>& rungs) {
  if (rungs.size() < 2 || rungs.front() == 0)
    return usual_reduction;
  const auto rise = static_cast<double>(rungs.back()) / rungs.front();
  std::size_t nearest = 2;
  double off = 0;
  for (std::size_t reduction = 2; reduction <= 100; ++reduction) {
    double power = 1;
    for (std::size_t step = 1; step < rungs.size(); ++step)
      power *= static_cast<double>(reduction);
    if (reduction == 2 || ratio(power, rise) < off) {
      nearest = reduction;
      off = ratio(power, rise);
    }
  }
  return nearest;
}

std::size_t reduction_of(const evolution_params& params) {
  return params.reduction.value_or(usual_reduction);
}

candidate_id start_of(const individual& i) {
  return i.trained != 0 ? i.trained : i.id;
}

void train_on(breeding& order, const individual& i, std::uint32_t epochs) {
  order.how = breeding::kind::train_on;
  order.parents = {i};
  order.epochs = epochs;
  order.start = start_of(i);
}

void breed_new(breeding& order, const std::vector<individual>& parents,
               std::uint32_t epochs, const evolution_params& params, std::uint64_t seed,
               double sampled) {
  order.epochs = epochs;
  if (order.generation == 0 || parents.empty() || !parents.front().fitness.ok)
    return;
  auto random = derive(seed, purpose::selection, order.generation, order.index);
  if (sampled > 0 && random.chance(sampled))
    return;
  const auto draw = [&] { return tournament(parents.size(), params.tournament, random); };
  const auto first = draw();
  const auto second = random.chance(params.crossover) ? draw() : first;
  breed_from(order, parents, std::min(first, second), std::max(first, second));
}

rung_ladder::rung_ladder(const evolution_params& params)
    : rungs_(params.rungs),
      at_(params.rungs.size()) {
  resize(params);
}

void rung_ladder::resize(const evolution_params& params) {
  const auto reduction = reduction_of(params);
  window_ = std::min(longest_window, params.population * reduction);
  enough_ = std::min(window_, (params.population + reduction - 1) / reduction);
  for (auto& r : at_)
    while (r.by_age.size() > window_)
      drop_oldest(r);
}

std::size_t rung_ladder::rung_of(const individual& i) const {
  if (i.epochs == 0)
    return rungs_.size() - 1;
  const auto found = std::lower_bound(rungs_.begin(), rungs_.end() - 1, i.epochs);
  return static_cast<std::size_t>(found - rungs_.begin());
}

void rung_ladder::drop_oldest(rung& r) {
  const auto id = r.by_age.front();
  r.by_age.pop_front();
  const auto found = std::find_if(r.by_worth.begin(), r.by_worth.end(),
                                  [&](const individual& i) { return i.id == id; });
  r.succeeded -= found->fitness.ok ? 1 : 0;
  r.by_worth.erase(found);
  const auto taken = std::lower_bound(r.taken.begin(), r.taken.end(), id);
  if (taken != r.taken.end() && *taken == id)
    r.taken.erase(taken);
}

void rung_ladder::add(const individual& i) {
  auto& r = at_[rung_of(i)];
  r.by_age.push_back(i.id);
  r.by_worth.insert(std::upper_bound(r.by_worth.begin(), r.by_worth.end(), i, fitter), i);
  r.succeeded += i.fitness.ok ? 1 : 0;
  if (r.by_age.size() > window_)
    drop_oldest(r);
  if (weighs_several(r.by_worth))
    sort_by_worth(r.by_worth); // One more may move all others.
}

rung_ladder::standing rung_ladder::standing_of(const individual& i) const {
  const auto& all = at_[rung_of(i)].by_worth;
  const auto place = std::ranges::find(all, i.id, &individual::id);
  return {static_cast<std::size_t>(place - all.begin()), all.size()};
}

std::optional<individual> rung_ladder::take_promotable(std::size_t rung,
                                                       std::size_t reduction) {
  auto& r = at_[rung];
  const auto share = r.by_worth.size() / reduction;
  for (std::size_t place = 0; place < share; ++place) {
    const auto& i = r.by_worth[place];
    if (!i.fitness.ok)
      break;
    const auto taken = std::lower_bound(r.taken.begin(), r.taken.end(), i.id);
    if (taken != r.taken.end() && *taken == i.id)
      continue;
    r.taken.insert(taken, i.id);
    return i;
  }
  return std::nullopt;
}

const std::vector<individual>& rung_ladder::breeders() const {
  for (auto r = at_.rbegin(); r != at_.rend(); ++r)
    if (r->succeeded >= enough_)
      return r->by_worth;
  for (const auto& r : at_)
    if (r.succeeded > 0)
      return r.by_worth;
  return at_.front().by_worth;
}

} // namespace clade
