#pragma once

#include "genome/genes/grammar.hpp"
#include "genome/variation/change.hpp"

#include <array>

namespace clade {

/// How often each kind of change is tried, relative to the others. A kind that the genome
/// has no room for is passed over.
struct mutation_params {
  double add_node = 2.0;    ///< A layer on an edge, which is disabled.
  double add_edge = 1.0;    ///< A skip connection.
  double remove_node = 1.0; ///< The nodes that it joined are joined directly.
  double remove_edge = 0.5; ///< A skip connection goes.
  double change_operator = 1.0;
  double widen = 1.0; ///< One step more filters or units.
  double narrow = 0.5;
  double change_setting = 1.5;
  double change_hyperparameter = 3.0;
  /// Grammars without recurrent edges try neither.
  double add_recurrent_edge = 2.0, remove_recurrent_edge = 1.0;
  /// The chance that another change follows the last one; 0.3 gives 1.4 changes on
  /// average.
  double again = 0.3;
  /// Whether rates follow what paid lately (engine/search/bases/adaptive_rates.hpp), in
  /// "regularised", "generational" and "map_elites". Worth it in regularised evolution of
  /// a thousand candidates or more.
  bool adapt = false;
};

[[nodiscard]] expected<void> validate(const mutation_params& params);

/// The key of a kind of mutation in `[evolution.mutation]`, and where its weight is.
struct mutation_kind {
  const char* name;
  double mutation_params::*weight;
};
/// All kinds of mutation by their number in `change_kind`.
inline constexpr std::array<mutation_kind, mutation_kind_count> mutation_kinds{{
    {"add_node", &mutation_params::add_node},
    {"add_edge", &mutation_params::add_edge},
    {"remove_node", &mutation_params::remove_node},
    {"remove_edge", &mutation_params::remove_edge},
    {"change_operator", &mutation_params::change_operator},
    {"widen", &mutation_params::widen},
    {"narrow", &mutation_params::narrow},
    {"change_setting", &mutation_params::change_setting},
    {"change_hyperparameter", &mutation_params::change_hyperparameter},
    {"add_recurrent_edge", &mutation_params::add_recurrent_edge},
    {"remove_recurrent_edge", &mutation_params::remove_recurrent_edge},
}};

/// A child and what made it.
struct offspring {
  genome child;
  std::vector<change> changes;
  /// The places that it was made of, if several were on offer; empty: all.
  std::vector<std::size_t> from{};
};

/// Changes at least one thing where the grammar leaves anything to change. The child
/// obeys `check(rules, child)` if the parent does, and `check_structure` whatever the
/// parent, if that did; dead nodes, and recurrent edges that the grammar does not have, are
/// left out.
[[nodiscard]] offspring mutate(const grammar& rules, const genome& parent,
                               const mutation_params& params, random_stream& random);

/// A genome of up to `initial_nodes` nodes in a chain from input to output, perhaps with
/// a skip and, where the grammar has some, with a recurrent edge or two.
[[nodiscard]] genome sample_genome(const grammar& rules, random_stream& random);

} // namespace clade
