#include "engine/search/models/fitted/screened_offspring.hpp"

#include "genome/genes/hash.hpp"

#include <algorithm>
#include <map>

namespace clade {

namespace {

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

  /// Returns the changes that made it, from one of the parents on, and the parents.
  [[nodiscard]] offspring told(genome chosen) const {
    std::vector<change> changes;
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
      changes.insert(changes.begin(), step->second.changes.begin(),
                     step->second.changes.end());
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
    return {std::move(chosen), std::move(changes), std::move(from)};
  }

private:
  struct step {
    std::vector<change> changes;
    std::vector<genome_hash> from;
  };

  genome note(offspring&& made, std::vector<genome_hash> from) {
    steps_.try_emplace(canonical_hash(made.child),
                       step{std::move(made.changes), std::move(from)});
    return std::move(made.child);
  }

  const breeding_rules& rules_;
  std::map<genome_hash, std::size_t> places_;
  std::map<genome_hash, step> steps_;
};

} // namespace

offspring screened_offspring(const promise_function& promise,
                             const genome_features& features,
                             const std::set<genome_hash>& taken,
                             const breeding_rules& rules, const breeding& order,
                             const screening_params& params, std::size_t looked_at,
                             const second_look& look) {
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
  auto children = screen_several(promise, parents, operators, params, random, looked_at);
  if (!children.empty())
    return born.told(std::move(children[look ? look(children) : 0]));
  // All that came up is known: a small space, nearly searched through.
  return born.told(order.attempt % 2 == 0 ? born.sample(random)
                                          : born.mutate(*parents.front(), random));
}

} // namespace clade
