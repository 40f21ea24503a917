// An order for candidate k is made of what was heard up to result k - in_flight, however
// much more has come since, and of the networks born between: so it does not depend on
// how fast anybody is. All work is the proposal's, which generators carry out; the
// strategy copies some hundred pointers a result.
#include "engine/evolution/surrogate_assisted.hpp"

#include "engine/evolution/fitness_model.hpp"
#include "engine/evolution/front_order.hpp"
#include "engine/evolution/screening.hpp"
#include "engine/evolution/selection.hpp"
#include "genome/hash.hpp"

#include <algorithm>
#include <set>

namespace clade {

namespace {

constexpr screening_params screening;

/// A front has many that are best.
constexpr std::size_t parents_of_front = 2 * screening_params{}.parents;

using genomes = std::vector<std::shared_ptr<const clade::genome>>;

screening_params looked_at_with(std::size_t parents) {
  auto params = screening;
  params.parents = std::max(params.parents, parents);
  return params;
}

bool weighs_several(const std::vector<individual>& known) {
  return std::ranges::any_of(
      known, [](const individual& i) { return i.fitness.objectives.size() > 1; });
}

/// The best first: by fitness, or where there are several objectives by front.
void sort_by_worth(std::vector<individual>& known) {
  sort_by_fitness(known);
  if (!weighs_several(known))
    return;
  std::vector<fitness> all;
  for (const auto& k : known)
    all.push_back(k.fitness);
  std::vector<individual> sorted;
  for (const auto i : order_by_front(all))
    sorted.push_back(std::move(known[i]));
  known = std::move(sorted);
}

/// Remembers how each genome that was looked at came about, to tell it of the chosen one.
class family {
public:
  family(const breeding_rules& rules, const std::vector<individual>& parents)
      : rules_(rules) {
    for (std::size_t i = 0; i < parents.size(); ++i)
      places_.emplace(canonical_hash(*parents[i].genome), i);
  }

  genome sample(random_stream& random) {
    auto made = clade::sample(rules_.space, rules_.problem, random);
    // That there are valid networks is found out before a run starts.
    if (!made)
      return {};
    return note(std::move(*made), {});
  }
  genome mutate(const genome& from, random_stream& random) {
    return note(
        clade::mutate(rules_.space, rules_.problem, from, rules_.mutation, random),
        {canonical_hash(from)});
  }
  genome cross(const genome& fitter, const genome& other, random_stream& random) {
    return note(clade::cross(rules_.space, rules_.problem, fitter, other, random),
                {canonical_hash(fitter), canonical_hash(other)});
  }

  /// What made it, from one of the parents on, and of which.
  [[nodiscard]] offspring told(genome chosen) const {
    std::string change;
    std::vector<std::size_t> from;
    auto at = canonical_hash(chosen);
    for (std::set<genome_hash> passed; passed.insert(at).second;) {
      if (const auto parent = places_.find(at); parent != places_.end()) {
        from.push_back(parent->second);
        break;
      }
      const auto step = steps_.find(at);
      if (step == steps_.end())
        break;
      change = step->second.change + (change.empty() ? "" : "; ") + change;
      if (step->second.from.empty())
        break;
      if (step->second.from.size() == 2)
        if (const auto other = places_.find(step->second.from[1]); other != places_.end())
          from.push_back(other->second);
      at = step->second.from[0];
    }
    std::ranges::sort(from);
    const auto twice = std::ranges::unique(from);
    from.erase(twice.begin(), twice.end());
    return {std::move(chosen), std::move(change), std::move(from)};
  }

private:
  struct step {
    std::string change;
    std::vector<genome_hash> from;
  };

  genome note(offspring&& made, std::vector<genome_hash> from) {
    steps_.try_emplace(canonical_hash(made.child),
                       step{std::move(made.change), std::move(from)});
    return std::move(made.child);
  }

  const breeding_rules& rules_;
  std::map<genome_hash, std::size_t> places_;
  std::map<genome_hash, step> steps_;
};

class screened final : public proposal {
public:
  screened(std::shared_ptr<const std::vector<individual>> known, genomes in_training)
      : known_(std::move(known)),
        in_training_(std::move(in_training)) {}

  expected<offspring> make(const breeding_rules& rules,
                           const breeding& order) const override {
    const genome_features features(rules.space.rules);
    std::vector<known_fitness> examples;
    std::set<genome_hash> taken;
    for (const auto& one : *known_) {
      examples.push_back({features.encode(*one.genome), one.fitness});
      taken.insert(canonical_hash(*one.genome));
    }
    auto weights = derive(rules.seed, purpose::niches, order.generation, order.index);
    auto model = fitness_model::fit(std::move(examples), features.blocks(),
                                    rules.seed + order.id, weights);
    for (const auto& g : in_training_) {
      model.believe(features.encode(*g));
      taken.insert(canonical_hash(*g));
    }
    family born(rules, order.parents);
    const variation_operators operators{
        .sample = [&](random_stream& r) { return born.sample(r); },
        .mutate = [&](const genome& g, random_stream& r) { return born.mutate(g, r); },
        .cross = [&](const genome& a, const genome& b,
                     random_stream& r) { return born.cross(a, b, r); },
        .encode = [&](const genome& g) { return features.encode(g); },
        .known = [&](const genome& g) { return taken.contains(canonical_hash(g)); }};
    std::vector<const genome*> parents;
    for (const auto& p : order.parents)
      parents.push_back(p.genome.get());
    auto random = derive(rules.seed, purpose::screening, order.generation, order.index,
                         order.attempt);
    auto chosen = screen([&](std::span<const double> f) { return model.promise(f); },
                         parents, operators, looked_at_with(parents.size()), random);
    // All that came up is known: a small space, nearly searched through.
    if (!chosen)
      chosen = order.attempt % 2 == 0 ? born.sample(random)
                                      : born.mutate(*parents.front(), random);
    return born.told(std::move(*chosen));
  }

private:
  std::shared_ptr<const std::vector<individual>> known_;
  genomes in_training_;
};

} // namespace

surrogate_assisted::surrogate_assisted(const evolution_params& params, std::uint64_t seed)
    : steady(params, seed) {
  moments_.push_back({0, std::make_shared<const std::vector<individual>>()});
  begin();
}

// Of what is too much, the best half and the newest half stay, in the order of hearing.
void surrogate_assisted::hear(const individual& evaluated) {
  auto all = *moments_.back().known;
  all.push_back(evaluated);
  if (all.size() > most_known) {
    std::vector<individual> sorted(all.begin(), all.end() - most_known / 2);
    sort_by_worth(sorted);
    std::erase_if(all, [&](const individual& i) { return i.id == sorted.back().id; });
  }
  moments_.push_back(
      {evaluated.id, std::make_shared<const std::vector<individual>>(std::move(all))});
}

void surrogate_assisted::bear(const candidate& c) {
  ++born_;
  in_training_.emplace(c.id, c.genome);
}

bool surrogate_assisted::may_order() const {
  return ordered() < screening.initial || born_ == ordered();
}

void surrogate_assisted::forget_before(std::uint64_t heard) {
  for (; told_ < heard && moments_.size() > 1; ++told_) {
    moments_.pop_front();
    in_training_.erase(moments_.front().latest);
  }
}

void surrogate_assisted::choose(breeding& order) {
  if (order.id > params().in_flight)
    forget_before(order.id - params().in_flight);
  const auto& known = moments_.front().known;
  auto best = *known;
  sort_by_worth(best);
  std::erase_if(best, [](const individual& i) { return !i.fitness.ok; });
  if (order.id <= screening.initial || best.size() < 3)
    return;
  best.resize(
      std::min(best.size(), weighs_several(best) ? parents_of_front : screening.parents));
  genomes in_training;
  for (const auto& [id, g] : in_training_)
    in_training.push_back(g);
  order.how = breeding::kind::propose;
  order.parents = std::move(best);
  order.proposal = std::make_shared<const screened>(known, std::move(in_training));
}

std::vector<individual> surrogate_assisted::population() const {
  auto best = *moments_.back().known;
  sort_by_worth(best);
  best.resize(std::min(best.size(), params().population));
  return best;
}

} // namespace clade
