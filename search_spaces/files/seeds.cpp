#include "search_spaces/files/seeds.hpp"

#include "genome/variation/rewiring.hpp"

#include <fmt/format.h>

namespace clade {

genome genome_of(const seed_network& seed, const grammar& rules, random_stream& random) {
  genome g = chain_genome(seed.layers);
  repair_nodes(rules, g, random);
  g.hyperparameters = seed.hyperparameters;
  repair(rules.hyperparameters, g.hyperparameters, random);
  return g;
}

namespace {

/// Draws a genome as the first candidates are drawn, but for the stream of random
/// numbers.
genome drawn(const seed_network& seed, const grammar& rules) {
  auto random = derive(0, purpose::sample, 0, 0);
  return genome_of(seed, rules, random);
}

} // namespace

expected<void> check_seeds(const search_space& space, const problem& p) {
  for (const auto& seed : space.seeds) {
    const auto g = drawn(seed, space.rules);
    const auto fits = check(space.rules, g).and_then([&] { return decode(space, g, p); });
    if (!fits)
      return fail(error_kind::invalid_input,
                  fmt::format("the seed {} does not fit: {}; change it, or write seeds = "
                              "\"none\" in [search_space]",
                              seed.name, fits.error().message));
  }
  return {};
}

std::vector<std::string> leave_out_misfits(search_space& space, const problem& p) {
  std::vector<std::string> said;
  std::erase_if(space.seeds, [&](const seed_network& seed) {
    const auto g = drawn(seed, space.rules);
    if (!check(space.rules, g))
      return false;
    const auto fits = decode(space, g, p);
    if (!fits)
      said.push_back(fmt::format("the seed {} is left out, as it does not fit: {}",
                                 seed.name, fits.error().message));
    return !fits;
  });
  return said;
}

} // namespace clade
