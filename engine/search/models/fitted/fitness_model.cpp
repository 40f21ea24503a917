#include "engine/search/models/fitted/fitness_model.hpp"

#include "engine/search/core/front_order.hpp"
#include "engine/search/core/pareto.hpp"
#include "engine/search/models/base/normal_scores.hpp"
#include "engine/search/models/fitted/earlier_results.hpp"
#include "engine/search/models/fitted/scalarisation.hpp"
#include "engine/search/models/fitted/screening.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace clade {

namespace {

constexpr std::size_t most_of_front = 3;

std::size_t objectives_of(const std::vector<known_fitness>& known) {
  std::size_t most = 1;
  for (const auto& k : known)
    most = std::max(most, k.fitness.objectives.size());
  return most;
}

/// The best half of what a model takes in, by front and how lonely, and the newest half,
/// as they were heard; so that the models of all objectives take in the same.
void thin(std::vector<known_fitness>& known, std::size_t limit) {
  if (known.size() <= limit)
    return;
  const auto elder = known.size() - limit / 2;
  const auto all = fitnesses_of(known, &known_fitness::fitness);
  auto best = order_by_front(std::span(all).first(elder));
  best.resize(limit - limit / 2);
  std::ranges::sort(best);
  std::vector<known_fitness> kept;
  for (const auto i : best)
    kept.push_back(std::move(known[i]));
  std::move(known.begin() + static_cast<std::ptrdiff_t>(elder), known.end(),
            std::back_inserter(kept));
  known = std::move(kept);
}

std::vector<example> examples_of(const std::vector<known_fitness>& known,
                                 const std::vector<double>& values) {
  std::vector<example> examples;
  for (std::size_t i = 0; i < known.size(); ++i) {
    examples.push_back({.features = known[i].features});
    if (known[i].fitness.ok)
      examples.back().fitness = values[i];
  }
  return examples;
}

/// Returns, for one objective, each one's place among all, equal ones sharing theirs.
std::vector<double> places_of(const std::vector<fitness>& all) {
  const auto key = [&](std::size_t i) {
    const auto& f = all[i];
    return std::tuple(f.ok, -f.violation, f.primary, f.secondary);
  };
  std::vector<std::size_t> order(all.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, key);
  std::vector<double> places(all.size());
  for (std::size_t at = 1; at < order.size(); ++at)
    places[order[at]] =
        places[order[at - 1]] + (key(order[at - 1]) < key(order[at]) ? 1 : 0);
  return places;
}

} // namespace

fitness_model fitness_model::fit(std::vector<known_fitness> known,
                                 const std::vector<feature_block>& blocks,
                                 std::uint64_t seed, random_stream& random,
                                 std::span<const example> earlier) {
  fitness_model made;
  const auto objectives = objectives_of(known);
  if (objectives == 1) {
    const auto places = places_of(fitnesses_of(known, &known_fitness::fitness));
    auto examples = examples_of(known, places);
    surrogate_params with;
    if (earlier.size() >= earlier_results::fewest) {
      with.trend = true;
      made.earlier_ = surrogate::fit(earlier, blocks, seed);
      for (auto& e : examples)
        e.lower = made.earlier_->predict(e.features).mean;
    }
    made.models_.push_back(surrogate::fit(examples, blocks, seed, with));
    return made;
  }
  surrogate_params params;
  params.members = 1; // There are several models already.
  thin(known, params.examples);
  const auto all = fitnesses_of(known, &known_fitness::fitness);
  std::vector<std::vector<double>> shares;
  for (std::size_t m = 0; m < objectives; ++m) {
    shares.push_back(shares_of(all, m));
    made.models_.push_back(
        surrogate::fit(examples_of(known, shares.back()), blocks, seed + m, params));
  }
  if (objectives > most_of_front) {
    made.weigh(known, shares, draw_weights(objectives, random));
    return made;
  }
  made.find_front(known);
  made.cut();
  return made;
}

void fitness_model::find_front(const std::vector<known_fitness>& known) {
  for (const auto& m : models_)
    reference_.push_back(*std::ranges::min_element(m.scores()));
  const bool some = std::ranges::any_of(known, [](const known_fitness& k) {
    return k.fitness.ok && k.fitness.violation == 0;
  });
  for (std::size_t i = 0; i < known.size(); ++i) {
    // If none is feasible, the candidates that miss by least are there to improve on.
    if (!known[i].fitness.ok || (some && known[i].fitness.violation > 0))
      continue;
    auto& p = front_.emplace_back();
    for (const auto& m : models_)
      p.push_back(m.scores()[i]);
  }
}

void fitness_model::cut() {
  const auto fronts = sort_into_fronts(std::span<const objective_point>(front_));
  std::vector<objective_point> best;
  if (!fronts.empty())
    for (const auto i : fronts.front())
      best.push_back(front_[i]);
  front_ = std::move(best);
  of_front_.emplace(front_, reference_);
}

void fitness_model::weigh(const std::vector<known_fitness>& known,
                          const std::vector<std::vector<double>>& shares,
                          std::span<const double> weights) {
  double best = -1;
  for (std::size_t i = 0; i < known.size(); ++i) {
    std::vector<double> own;
    for (const auto& of_objective : shares)
      own.push_back(of_objective[i]);
    if (known[i].fitness.ok)
      best = std::max(best, tchebycheff(own, weights));
  }
  std::vector<double> units;
  for (std::size_t m = 0; m < models_.size(); ++m) {
    const auto scores = models_[m].scores();
    const auto top = std::ranges::max_element(scores) - scores.begin();
    const auto score = scores[static_cast<std::size_t>(top)];
    units.push_back(score > 0 ? normal_quantile(shares[m][static_cast<std::size_t>(top)])
                                    / score
                              : 1);
  }
  of_all_.emplace(best, weights, units);
}

void fitness_model::believe(std::span<const double> features) {
  if (of_front_) {
    auto& p = front_.emplace_back();
    for (const auto& m : models_)
      p.push_back(m.predict(features).mean);
    cut();
  }
  for (auto& m : models_)
    m.believe(features);
}

double fitness_model::promise(std::span<const double> features) const {
  const auto& first = models_.front();
  if (models_.size() == 1)
    return log_expected_improvement(
        earlier_ ? first.predict(features, earlier_->predict(features))
                 : first.predict(features),
        first.best());
  std::vector<prediction> predictions;
  for (const auto& m : models_)
    predictions.push_back(m.predict(features));
  return of_front_ ? of_front_->log_expected(predictions)
                   : of_all_->log_expected(predictions);
}

} // namespace clade
