#pragma once

#include "engine/search/bases/generations.hpp"

namespace clade {

struct grid_params {
  /// A range is cut into so many points, both ends among them.
  std::size_t points_per_range = 3;
};

void keys(own_keys& v, grid_params& p);

/// Returns how many points the grid of the parameters has.
[[nodiscard]] std::size_t grid_size(const evolution_params& params,
                                    const search_space& space);

/// Grid search: every combination of values once, of each list all values and of each
/// range `points_per_range` (parameter_grid.hpp), in an order that the seed decides and
/// of which every beginning covers the space evenly. The networks
/// of a space with layers are its seeds: each is trained with every combination of
/// hyperparameters, whatever the seed says of these. The search must have room for the whole grid; places
/// beyond it are copies, which train nothing. A person's genomes, and points that are
/// known to be good, push the grid's back.
///
/// To take when every combination of a few values is to be seen, as for a table or a
/// figure; not to find the best, which random search does sooner (Bergstra and Bengio,
/// "Random Search for Hyper-Parameter Optimization", JMLR 13, 2012).
class grid_search final : public generations {
public:
  grid_search(const evolution_params& params, std::uint64_t seed,
              std::shared_ptr<const search_space> space);

  /// Whether the space has what a grid can list: hyperparameters, or layers and seeds.
  [[nodiscard]] static expected<void> serves(const search_space& space);
  [[nodiscard]] static expected<void> validate(const evolution_params& params);
  /// Whether the search has room for the grid.
  [[nodiscard]] static expected<void> fits(const evolution_params& params,
                                           const search_space& space);

private:
  void choose_parents(breeding& order) const override;
  [[nodiscard]] std::size_t staying() const override { return params().population; }
  [[nodiscard]] std::size_t surviving() const override { return params().population; }

  std::vector<std::shared_ptr<const clade::proposal>> points_;
};

} // namespace clade
