#pragma once

#include "genome/grammar.hpp"

#include <string>

namespace clade {

/// How often each kind of change is tried, relative to the others. A kind that the genome
/// has no room for is passed over.
struct mutation_params {
  double add_node = 2.0;    ///< A layer on an edge, which is disabled.
  double add_edge = 1.0;    ///< A skip connection.
  double remove_node = 1.0; ///< What it joined is joined directly.
  double remove_edge = 0.5; ///< A skip connection goes.
  double change_operator = 1.0;
  double widen = 1.0; ///< One step more filters or units.
  double narrow = 0.5;
  double change_setting = 1.5;
  double change_hyperparameter = 3.0;
  /// The chance that another change follows the last one; 0.3 gives 1.4 changes on
  /// average.
  double again = 0.3;
  /// Whether rates follow what paid lately (engine/search/bases/adaptive_rates.hpp), in
  /// "regularised", "generational" and "map_elites". Worth it in regularised evolution of
  /// a thousand candidates or more.
  bool adapt = false;
};

[[nodiscard]] expected<void> validate(const mutation_params& params);

/// A child and what made it ("add conv(filters=16, kernel=3) on n1..n2; learning_rate
/// 0.01 -> 0.02").
struct offspring {
  genome child;
  std::string change;
  /// Of several that were on offer, the places of those that it was made of; empty: all.
  std::vector<std::size_t> from{};
};

/// Changes at least one thing where the grammar leaves anything to change. The child
/// obeys `check(rules, child)` if the parent does, and `check_structure` whatever the
/// parent, if that did; dead nodes and recurrent edges, which no grammar has, are left
/// out.
[[nodiscard]] offspring mutate(const grammar& rules, const genome& parent,
                               const mutation_params& params, random_stream& random);

/// A genome of up to `initial_nodes` nodes in a chain from input to output, perhaps with
/// a skip.
[[nodiscard]] genome sample_genome(const grammar& rules, random_stream& random);

} // namespace clade
