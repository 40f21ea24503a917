#pragma once

#include "engine/search/bases/adaptive_rates.hpp"
#include "engine/search/bases/steady.hpp"
#include "engine/search/core/elite_archive.hpp"

namespace clade {

/// MAP-Elites in a steady state (Mouret and Clune, "Illuminating search spaces by mapping
/// elites", 2015): quality diversity. An archive keeps the fittest of each niche, which
/// is a network's size, in doublings of its parameters, and its depth, in live nodes. The
/// first `population` candidates are sampled; from then on
///
///     parent <- an elite, by an even chance
///     child  <- parent mutated; with the chance `crossover`, crossed with another elite
///     the child takes its niche if that is empty or held by one less fit
///
/// and the survivors are the elites. So a search ends with the best network of each size
/// and depth, found by stepping stones that selection by fitness alone gives up.
///
/// Take it to see what accuracy costs, where several sizes are wanted from one search, or
/// where others get stuck; for the single best network within a small budget evolution is
/// faster.
class map_elites final : public steady {
public:
  map_elites(const evolution_params& params, std::uint64_t seed)
      : steady(params, seed),
        learning_(params.mutation) {}

  /// It needs layers: without them all networks are of one depth.
  [[nodiscard]] static expected<void> serves(const search_space& space);

  void born(const candidate& c) override;
  /// The elites, best first; how many there are is up to the space.
  [[nodiscard]] std::vector<individual> population() const override {
    return archive_.best_first();
  }

  [[nodiscard]] bool receive(const individual& migrant) override;

private:
  void hear(const individual& evaluated) override;
  void choose(breeding& order) override;
  void changed() override { learning_.change(params().mutation); }

  elite_archive archive_;
  mutation_learning learning_;
};

} // namespace clade
