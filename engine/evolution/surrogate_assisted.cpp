// An order for candidate k is made of what was heard up to result k - in_flight, however
// much more has come since, and of the networks born between: so it does not depend on
// how fast anybody is. All work is the proposal's, which generators carry out; the
// strategy copies some hundred pointers a result.
#include "engine/evolution/surrogate_assisted.hpp"

#include "engine/evolution/asked_once.hpp"
#include "engine/evolution/screening.hpp"
#include "engine/evolution/selection.hpp"
#include "genome/hash.hpp"

#include <algorithm>
#include <set>

namespace clade {

namespace {

constexpr screening_params screening;

/// Children of which the scores are had.
constexpr std::size_t measured_children = 16;

/// What is known of examples beside their genomes, by which they are encoded.
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
  [[nodiscard]] const std::vector<feature_block>& blocks() const {
    return features_.blocks();
  }

private:
  genome_features features_;
  std::optional<zero_cost_places> places_;
};

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
  screened(std::shared_ptr<const std::vector<individual>> known,
           std::vector<individual> in_training)
      : known_(std::move(known)),
        in_training_(std::move(in_training)) {}

  expected<offspring> make(const breeding_rules& rules,
                           const breeding& order) const override {
    const encoding features(rules.space.rules);
    std::set<genome_hash> taken;
    for (const auto* some : {&*known_, &in_training_})
      for (const auto& one : *some)
        taken.insert(canonical_hash(*one.genome));
    const auto model = learn(features, rules.seed + order.id);
    family born(rules, order.parents);
    const variation_operators operators{
        .sample = [&](random_stream& r) { return born.sample(r); },
        .mutate = [&](const genome& g, random_stream& r) { return born.mutate(g, r); },
        .cross = [&](const genome& a, const genome& b,
                     random_stream& r) { return born.cross(a, b, r); },
        .encode = [&](const genome& g) { return features(g, {}); },
        .known = [&](const genome& g) { return taken.contains(canonical_hash(g)); }};
    std::vector<const genome*> parents;
    for (const auto& p : order.parents)
      parents.push_back(p.genome.get());
    auto random = derive(rules.seed, purpose::screening, order.generation, order.index,
                         order.attempt);
    auto chosen =
        rules.scorer == nullptr
            ? screen(model, parents, operators, screening, random)
            : choose_measured(rules, order,
                              screen_several(model, parents, operators, screening, random,
                                             measured_children));
    // All that came up is known: a small space, nearly searched through.
    if (!chosen)
      chosen = order.attempt % 2 == 0 ? born.sample(random)
                                      : born.mutate(*parents.front(), random);
    return born.told(std::move(*chosen));
  }

private:
  [[nodiscard]] surrogate learn(const encoding& features, std::uint64_t seed) const {
    std::vector<example> examples;
    for (const auto& one : *known_) {
      examples.push_back({.features = features(*one.genome, one.zero_cost)});
      if (one.fitness.ok)
        examples.back().fitness = one.fitness.primary;
    }
    auto model = surrogate::fit(examples, features.blocks(), seed);
    for (const auto& one : in_training_)
      model.believe(features(*one.genome, one.zero_cost));
    return model;
  }

  /// By a model that knows the scores; of equals the first.
  [[nodiscard]] std::optional<genome>
  choose_measured(const breeding_rules& rules, const breeding& order,
                  std::vector<genome> children) const {
    std::vector<zero_cost_scores> scores;
    for (const auto* some : {&*known_, &in_training_})
      for (const auto& one : *some)
        scores.push_back(one.zero_cost);
    const encoding features(rules.space.rules, scores);
    const auto model = learn(features, rules.seed + order.id);
    genome* best = nullptr;
    double most = 0;
    for (auto& child : children) {
      const auto p = model.predict(features(child, rules.scorer->score(child, order.id)));
      const double promise = log_expected_improvement(p, model.best());
      if (best == nullptr || promise > most) {
        best = &child;
        most = promise;
      }
    }
    return best == nullptr ? std::nullopt : std::optional(std::move(*best));
  }

  std::shared_ptr<const std::vector<individual>> known_;
  std::vector<individual> in_training_;
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
    const auto newest = all.end() - most_known / 2;
    all.erase(std::max_element(all.begin(), newest, fitter));
  }
  moments_.push_back(
      {evaluated.id, std::make_shared<const std::vector<individual>>(std::move(all))});
}

void surrogate_assisted::bear(const candidate& c) {
  ++born_;
  in_training_.emplace(
      c.id, individual{.id = c.id, .genome = c.genome, .zero_cost = c.zero_cost});
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
  sort_by_fitness(best);
  std::erase_if(best, [](const individual& i) { return !i.fitness.ok; });
  if (order.id <= screening.initial || best.size() < 3)
    return;
  best.resize(std::min(best.size(), screening.parents));
  std::vector<individual> in_training;
  for (const auto& [id, one] : in_training_)
    in_training.push_back(one);
  order.how = breeding::kind::propose;
  order.parents = std::move(best);
  order.proposal = std::make_shared<const asked_once>(
      std::make_shared<const screened>(known, std::move(in_training)));
}

std::vector<individual> surrogate_assisted::population() const {
  auto best = *moments_.back().known;
  sort_by_fitness(best);
  best.resize(std::min(best.size(), params().population));
  return best;
}

} // namespace clade
