#pragma once

#include "genome/base/random.hpp"
#include "genome/genes/genome.hpp"

#include <cstddef>

namespace clade::test {

struct wildness {
  std::size_t nodes = 6;     ///< At most, between input and output.
  std::size_t operators = 4; ///< How many there are to choose from.
  double edge = 0.4;         ///< The chance that two nodes are joined.
  bool recurrent = true;     ///< Edges backward, too.
  bool plain = false;        ///< No settings, weights, or disabled edges.
};

/// A genome that keeps `check_structure` and obeys no grammar: dead nodes, disabled,
/// recurrent and weighted edges, innovations out of the air, settings of every kind with
/// extreme values.
[[nodiscard]] genome a_wild_genome(const wildness& how, random_stream& random);

/// The same network with other innovations for all nodes but input and output, and for
/// all edges.
[[nodiscard]] genome renamed(const genome& g, random_stream& random);

} // namespace clade::test
