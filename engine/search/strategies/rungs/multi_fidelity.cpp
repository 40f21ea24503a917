// New candidates are the proposal's work, which generators carry out, with length scales
// from their posterior. Which training goes on must be known as the order is given: there
// the scales are the medians of their priors, which makes a fit a matter of a millisecond
// a rung.
#include "engine/search/strategies/rungs/multi_fidelity.hpp"

#include "engine/search/bases/cached_proposal.hpp"
#include "engine/search/bases/rungs.hpp"
#include "engine/search/core/front_order.hpp"
#include "engine/search/core/pareto.hpp"
#include "engine/search/models/fitted/scalarisation.hpp"
#include "engine/search/models/fitted/screened_offspring.hpp"
#include "genome/genes/hash.hpp"

#include <algorithm>
#include <cmath>

namespace clade {

namespace {

/// The lowest rung of so many epochs or more; the top for a training as the experiment
/// says.
std::size_t rung_among(const std::vector<std::uint32_t>& rungs, std::uint32_t epochs) {
  if (epochs == 0)
    return rungs.size() - 1;
  const auto found = std::lower_bound(rungs.begin(), rungs.end() - 1, epochs);
  return static_cast<std::size_t>(found - rungs.begin());
}

/// One number for the fitness of each, to be raised: the one objective or, of several, the
/// distance from the best of its rung, by weights that the seed draws.
std::vector<double> as_one_objective(const std::vector<individual>& known,
                                     const std::vector<std::uint32_t>& rungs,
                                     std::uint64_t seed) {
  std::vector<double> all;
  for (const auto& one : known)
    all.push_back(one.fitness.primary);
  if (!weighs_several(known))
    return all;
  std::size_t objectives = 0;
  std::vector<std::vector<std::size_t>> by_rung(rungs.size());
  for (std::size_t i = 0; i < known.size(); ++i) {
    by_rung[rung_among(rungs, known[i].epochs)].push_back(i);
    objectives = std::max(objectives, known[i].fitness.objectives.size());
  }
  auto random = derive(seed, purpose::niches, 0, 0);
  const auto weights = draw_weights(objectives, random);
  for (const auto& rung : by_rung) {
    std::vector<fitness> there;
    for (const auto i : rung)
      there.push_back(known[i].fitness);
    std::vector<std::vector<double>> shares(rung.size());
    for (std::size_t m = 0; m < objectives; ++m) {
      const auto of_all = shares_of(there, m);
      for (std::size_t i = 0; i < rung.size(); ++i)
        shares[i].push_back(of_all[i]);
    }
    for (std::size_t i = 0; i < rung.size(); ++i)
      all[rung[i]] = tchebycheff(shares[i], weights);
  }
  return all;
}

rung_models models_of(const std::vector<individual>& known,
                      const std::vector<double>& fitness,
                      const std::vector<model_guided::unheard>& in_training,
                      const std::vector<std::uint32_t>& rungs,
                      const genome_features& features, std::uint64_t seed,
                      const surrogate_params& params) {
  std::vector<std::vector<example>> examples(rungs.size());
  for (std::size_t i = 0; i < known.size(); ++i) {
    auto& e = examples[rung_among(rungs, known[i].epochs)].emplace_back();
    e.features = features.encode(*known[i].genome);
    if (known[i].fitness.ok)
      e.fitness = fitness[i];
  }
  auto models = rung_models::fit(examples, features.blocks(), seed, params);
  if (!models.empty())
    for (const auto& one : in_training)
      models.believe(features.encode(*one.genome), rung_among(rungs, one.epochs));
  return models;
}

/// Leaves, where there are several objectives, those that no other one dominates.
void keep_front(std::vector<const individual*>& waiting) {
  std::vector<fitness> all;
  for (const auto* one : waiting)
    all.push_back(one->fitness);
  const bool several =
      std::ranges::any_of(all, [](const fitness& f) { return f.objectives.size() > 1; });
  if (!several)
    return;
  const auto fronts = sort_into_fronts(all);
  std::vector<const individual*> front;
  for (const auto i : fronts.front())
    front.push_back(waiting[i]);
  waiting = std::move(front);
}

class screened_by_rungs final : public proposal {
public:
  screened_by_rungs(model_guided::history known,
                    std::vector<model_guided::unheard> in_training,
                    std::vector<std::uint32_t> rungs)
      : known_(std::move(known)),
        in_training_(std::move(in_training)),
        rungs_(std::move(rungs)) {}

  expected<offspring> make(const breeding_rules& rules,
                           const breeding& order) const override {
    const genome_features features(rules.space.rules);
    const auto seed = rules.seed + order.id;
    const auto models = models_of(*known_, as_one_objective(*known_, rungs_, seed),
                                  in_training_, rungs_, features, seed, {});
    std::set<genome_hash> taken;
    for (const auto& one : *known_)
      taken.insert(canonical_hash(*one.genome));
    for (const auto& one : in_training_)
      taken.insert(canonical_hash(*one.genome));
    const auto promise = [&](std::span<const double> row) {
      return log_expected_improvement(models.predict(row), models.best());
    };
    return screened_offspring(promise, features, taken, rules, order);
  }

private:
  model_guided::history known_;
  std::vector<model_guided::unheard> in_training_;
  std::vector<std::uint32_t> rungs_;
};

} // namespace

multi_fidelity::multi_fidelity(const evolution_params& params, std::uint64_t seed,
                               std::shared_ptr<const search_space> space)
    : model_guided(params, seed),
      space_(std::move(space)),
      rungs_(params.rungs),
      ordered_on_(params.rungs.size()) {}

std::size_t multi_fidelity::rung_of(std::uint32_t epochs) const {
  return rung_among(rungs_, epochs);
}

// If there are too many on a rung, the best half and the newest half stay.
void multi_fidelity::thin(std::vector<individual>& known) const {
  const auto rung = rung_of(known.back().epochs);
  std::vector<std::size_t> there;
  for (std::size_t i = 0; i < known.size(); ++i)
    if (rung_of(known[i].epochs) == rung)
      there.push_back(i);
  if (there.size() <= most_known)
    return;
  const auto worst =
      *std::max_element(there.begin(), there.end() - most_known / 2,
                        [&](auto a, auto b) { return fitter(known[a], known[b]); });
  known.erase(known.begin() + static_cast<std::ptrdiff_t>(worst));
}

/// The best of the highest rung, then of the next.
std::vector<individual>
multi_fidelity::parents(const std::vector<individual>& known) const {
  constexpr screening_params screening;
  std::vector<individual> chosen;
  std::set<genome_hash> networks;
  for (auto rung = rungs_.size(); rung-- > 0;) {
    std::vector<individual> there;
    for (const auto& one : known)
      if (one.fitness.ok && rung_of(one.epochs) == rung)
        there.push_back(one);
    sort_by_worth(there);
    const auto most =
        rung == 0 ? screening.parents
                  : std::min(screening.parents, chosen.size() + screening.parents / 2);
    for (std::size_t i = 0; i < there.size() && chosen.size() < most; ++i)
      if (networks.insert(canonical_hash(*there[i].genome)).second)
        chosen.push_back(std::move(there[i]));
  }
  return chosen;
}

const individual*
multi_fidelity::most_promising(const std::vector<const individual*>& waiting,
                               const std::vector<individual>& known,
                               candidate_id order) const {
  if (waiting.size() < 2 || !space_)
    return waiting.empty()
               ? nullptr
               : *std::ranges::min_element(
                   waiting, [](const auto* a, const auto* b) { return fitter(*a, *b); });
  const genome_features features(space_->rules);
  const auto fitness = as_one_objective(known, rungs_, seed() + order);
  const auto models = models_of(known, fitness, in_training(), rungs_, features, seed(),
                                {.members = 1, .steps = 0});
  const individual* best = nullptr;
  double most = 0;
  for (const auto* one : waiting) {
    double promise = fitness[static_cast<std::size_t>(one - known.data())];
    if (!models.empty()) {
      const auto p = models.predict(features.encode(*one->genome));
      promise = models.highest() > rung_of(one->epochs)
                    ? log_expected_improvement(p, models.best())
                    : p.mean;
    }
    if (best == nullptr || promise > most) {
      best = one;
      most = promise;
    }
  }
  return best;
}

bool multi_fidelity::promote(breeding& order, const std::vector<individual>& known) {
  for (auto rung = rungs_.size() - 1; rung > 0; --rung) {
    const double share = std::sqrt(static_cast<double>(rungs_[rung - 1]) / rungs_[rung]);
    if (ordered_on_[rung] + 1 > share * ordered_on_[rung - 1])
      continue;
    std::vector<const individual*> waiting;
    for (const auto& one : known)
      if (one.fitness.ok && rung_of(one.epochs) + 1 == rung
          && !promoted_.contains(start_of(one)))
        waiting.push_back(&one);
    keep_front(waiting);
    if (const auto* chosen = most_promising(waiting, known, order.id)) {
      train_on(order, *chosen, rungs_[rung]);
      promoted_.insert(order.start);
      ++ordered_on_[rung];
      return true;
    }
  }
  return false;
}

void multi_fidelity::choose(breeding& order) {
  const auto known = known_to(order);
  if (order.id > initial && promote(order, *known))
    return;
  order.epochs = rungs_.front();
  ++ordered_on_.front();
  auto best = parents(*known);
  if (order.id <= initial || best.size() < rung_models::fewest_examples)
    return;
  order.how = breeding::kind::propose;
  order.parents = std::move(best);
  order.proposal = std::make_shared<const cached_proposal>(
      std::make_shared<const screened_by_rungs>(known, in_training(), rungs_));
}

std::vector<individual> multi_fidelity::population() const {
  auto best = parents(latest());
  best.resize(std::min(best.size(), params().population));
  return best;
}

} // namespace clade
