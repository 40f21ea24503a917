// All work is the proposal's, which generators carry out; the strategy copies some
// hundred pointers a result.
#include "engine/evolution/surrogate_assisted.hpp"

#include "engine/evolution/screened_child.hpp"
#include "engine/evolution/selection.hpp"
#include "genome/hash.hpp"

#include <algorithm>
#include <set>

namespace clade {

namespace {

using genomes = std::vector<std::shared_ptr<const clade::genome>>;

class screened final : public proposal {
public:
  screened(std::shared_ptr<const std::vector<individual>> known, genomes in_training)
      : known_(std::move(known)),
        in_training_(std::move(in_training)) {}

  expected<offspring> make(const breeding_rules& rules,
                           const breeding& order) const override {
    const genome_features features(rules.space.rules);
    std::vector<example> examples;
    std::set<genome_hash> taken;
    for (const auto& one : *known_) {
      examples.push_back({.features = features.encode(*one.genome)});
      if (one.fitness.ok)
        examples.back().fitness = one.fitness.primary;
      taken.insert(canonical_hash(*one.genome));
    }
    auto model = surrogate::fit(examples, features.blocks(), rules.seed + order.id);
    for (const auto& g : in_training_) {
      model.believe(features.encode(*g));
      taken.insert(canonical_hash(*g));
    }
    return screened_child(model, features, taken, rules, order);
  }

private:
  std::shared_ptr<const std::vector<individual>> known_;
  genomes in_training_;
};

} // namespace

surrogate_assisted::surrogate_assisted(const evolution_params& params, std::uint64_t seed)
    : model_guided(params, seed) {
  begin();
}

// Of what is too much, the best half and the newest half stay, in the order of hearing.
void surrogate_assisted::thin(std::vector<individual>& known) const {
  if (known.size() > most_known)
    known.erase(std::max_element(known.begin(), known.end() - most_known / 2, fitter));
}

void surrogate_assisted::choose(breeding& order) {
  const auto known = known_to(order);
  auto best = *known;
  sort_by_fitness(best);
  std::erase_if(best, [](const individual& i) { return !i.fitness.ok; });
  if (order.id <= initial || best.size() < 3)
    return;
  best.resize(std::min(best.size(), screening_params{}.parents));
  genomes training;
  for (const auto& one : in_training())
    training.push_back(one.genome);
  order.how = breeding::kind::propose;
  order.parents = std::move(best);
  order.proposal = std::make_shared<const screened>(known, std::move(training));
}

std::vector<individual> surrogate_assisted::population() const {
  auto best = latest();
  sort_by_fitness(best);
  best.resize(std::min(best.size(), params().population));
  return best;
}

} // namespace clade
