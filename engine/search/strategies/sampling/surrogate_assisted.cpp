// All work is the proposal's, which generators carry out; the strategy copies some
// hundred pointers a result.
#include "engine/search/strategies/sampling/surrogate_assisted.hpp"

#include "engine/search/bases/cached_proposal.hpp"
#include "engine/search/core/front_order.hpp"
#include "engine/search/core/pareto.hpp"
#include "engine/search/core/selection.hpp"
#include "engine/search/models/fitted/fitness_model.hpp"
#include "engine/search/models/fitted/screened_offspring.hpp"
#include "genome/genes/hash.hpp"

#include <algorithm>
#include <optional>
#include <set>

namespace clade {

namespace {

/// Children of which the scores are had.
constexpr std::size_t measured_children = 16;

/// Results in a row that tell nothing new, after which something random is looked at.
constexpr std::size_t repeats_that_bore = 3;

/// A front has many that are best.
constexpr std::size_t parents_of_front = 2 * screening_params{}.parents;

screening_params looked_at_with(std::size_t parents) {
  screening_params params;
  params.parents = std::max(params.parents, parents);
  return params;
}

/// The features of examples that are known beside their genomes, by which they are
/// encoded.
class encoding {
public:
  /// By the genome alone.
  explicit encoding(const grammar& rules) : features_(rules) {}
  /// By the scores too, ranked among those of `known`.
  encoding(const grammar& rules, std::span<const zero_cost_scores> known)
      : features_(rules, zero_cost_places::count),
        places_(known) {}

  [[nodiscard]] std::vector<double> operator()(const genome& g,
                                               const zero_cost_scores& s) const {
    return places_ ? features_.encode(g, places_->of(s)) : features_.encode(g);
  }
  [[nodiscard]] const genome_features& of_genomes() const { return features_; }

private:
  genome_features features_;
  std::optional<zero_cost_places> places_;
};

/// Whether the last few results are each equal to one before them.
bool says_nothing_new(const std::vector<individual>& known) {
  if (known.size() <= repeats_that_bore)
    return false;
  const auto newest = known.end() - static_cast<std::ptrdiff_t>(repeats_that_bore);
  return std::all_of(newest, known.end(), [&](const individual& one) {
    return std::any_of(known.begin(), newest,
                       [&](const individual& k) { return k.fitness == one.fitness; });
  });
}

class screened final : public proposal {
public:
  screened(model_guided::history known, std::vector<model_guided::unheard> in_training,
           std::shared_ptr<const std::vector<earlier_result>> earlier)
      : known_(std::move(known)),
        in_training_(std::move(in_training)),
        earlier_(std::move(earlier)) {}

  expected<offspring> make(const breeding_rules& rules,
                           const breeding& order) const override {
    std::set<genome_hash> taken;
    for (const auto& one : *known_)
      taken.insert(canonical_hash(*one.genome));
    for (const auto& one : in_training_)
      taken.insert(canonical_hash(*one.genome));
    const encoding by_genome(rules.space.rules);
    const auto& features = by_genome.of_genomes();
    const auto model =
        learn(by_genome, rules, order, clade::examples_of(*earlier_, features));
    const auto promise = [&](std::span<const double> f) { return model.promise(f); };
    const auto params = looked_at_with(order.parents.size());
    if (rules.scorer == nullptr)
      return screened_offspring(promise, features, taken, rules, order, params);
    return screened_offspring(promise, features, taken, rules, order, params,
                              measured_children, [&](std::span<const genome> children) {
                                return best_measured(rules, order, children);
                              });
  }

private:
  [[nodiscard]] fitness_model learn(const encoding& features, const breeding_rules& rules,
                                    const breeding& order,
                                    const std::vector<example>& earlier = {}) const {
    std::vector<known_fitness> examples;
    for (const auto& one : *known_)
      examples.push_back({features(*one.genome, one.zero_cost), one.fitness});
    auto weights = derive(rules.seed, purpose::niches, order.generation, order.index);
    auto model = fitness_model::fit(std::move(examples), features.of_genomes().blocks(),
                                    rules.seed + order.id, weights, earlier);
    for (const auto& one : in_training_)
      model.believe(features(*one.genome, one.zero_cost));
    return model;
  }

  /// By a model that knows the scores; of equals the first.
  [[nodiscard]] std::size_t best_measured(const breeding_rules& rules,
                                          const breeding& order,
                                          std::span<const genome> children) const {
    std::vector<zero_cost_scores> scores;
    for (const auto& one : *known_)
      scores.push_back(one.zero_cost);
    for (const auto& one : in_training_)
      scores.push_back(one.zero_cost);
    const encoding features(rules.space.rules, scores);
    const auto model = learn(features, rules, order);
    std::vector<double> promised;
    for (const auto& child : children)
      promised.push_back(
          model.promise(features(child, rules.scorer->score(child, order.id))));
    return static_cast<std::size_t>(std::ranges::max_element(promised)
                                    - promised.begin());
  }

  model_guided::history known_;
  std::vector<model_guided::unheard> in_training_;
  std::shared_ptr<const std::vector<earlier_result>> earlier_;
};

} // namespace

surrogate_assisted::surrogate_assisted(const evolution_params& params, std::uint64_t seed)
    : model_guided(params, seed),
      earlier_(std::make_shared<const std::vector<earlier_result>>(
          earlier_results_of(params).value_or(std::vector<earlier_result>()))) {}

expected<void> surrogate_assisted::validate(const evolution_params& params) {
  return earlier_results_of(params).map([](const auto&) {});
}

// If there are too many, the best half and the newest half stay, in the order of hearing.
void surrogate_assisted::thin(std::vector<individual>& known) const {
  if (known.size() <= most_known)
    return;
  std::vector<individual> sorted(known.begin(), known.end() - most_known / 2);
  sort_by_worth(sorted);
  std::erase_if(known, [&](const individual& i) { return i.id == sorted.back().id; });
}

void surrogate_assisted::choose(breeding& order) {
  const auto known = known_to(order);
  auto best = *known;
  sort_by_worth(best);
  std::erase_if(best, [](const individual& i) { return !i.fitness.ok; });
  if (order.id <= initial || best.size() < 3 || says_nothing_new(*known))
    return;
  best.resize(std::min(best.size(), weighs_several(best) ? parents_of_front
                                                         : screening_params{}.parents));
  order.how = breeding::kind::propose;
  order.parents = std::move(best);
  order.proposal = std::make_shared<const cached_proposal>(
      std::make_shared<const screened>(known, in_training(), earlier_));
}

std::vector<individual> surrogate_assisted::population() const {
  auto best = latest();
  sort_by_worth(best);
  best.resize(std::min(best.size(), params().population));
  return best;
}

} // namespace clade
