#include "search_spaces/seeds.hpp"

#include "genome/rewiring.hpp"

namespace clade {

genome genome_of(const seed_network& seed, const grammar& rules, random_stream& random) {
  genome g = chain_genome(seed.layers);
  repair_nodes(rules, g, random);
  g.hyperparameters = seed.hyperparameters;
  repair(rules.hyperparameters, g.hyperparameters, random);
  return g;
}

expected<void> check_seeds(const search_space& space, const problem& p) {
  for (const auto& seed : space.seeds) {
    auto random = derive(0, purpose::sample, 0, 0);
    const auto g = genome_of(seed, space.rules, random);
    const auto fits = check(space.rules, g).and_then([&] { return decode(space, g, p); });
    if (!fits)
      return fail(error_kind::invalid_input,
                  "the seed " + seed.name + " does not fit: " + fits.error().message
                      + "; change it, or write seeds = \"none\" in [search_space]");
  }
  return {};
}

} // namespace clade
