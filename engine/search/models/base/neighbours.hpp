#pragma once

#include "genome/variation/mutation.hpp"

#include <vector>

namespace clade {

/// One gene of a genome with another value: what local search steps to.
struct neighbour {
  /// The node whose setting it is; the input's stands for the hyperparameters.
  innovation node = input_innovation;
  std::string name;
  value to;
  bool width = false; ///< The same as in `parameter`; `wider`: whether it becomes wider.
  bool wider = false;
};

/// The values next to `current`: all others of an unordered list; the ones before and
/// behind in an ordered one and among whole numbers (`step`); of reals, and of whole
/// numbers with more than 16 values, those 1/64 and 1/8 of the domain away (of its
/// logarithm, where that is uniform), so that a long way is gone in few steps and a good
/// place is found to within 1/128. None where `current` is not in the domain.
[[nodiscard]] std::vector<value> values_near(const parameter& p, const value& current);

/// All genomes that differ in one hyperparameter or in one setting of a live node, in the
/// order of the grammar and of innovations.
[[nodiscard]] std::vector<neighbour> neighbours(const grammar& rules, const genome& g);

/// The neighbour as a genome, and what was changed. Settings that the new
/// value brings along are drawn.
[[nodiscard]] offspring changed(const grammar& rules, const genome& g, const neighbour& n,
                                random_stream& random);

} // namespace clade
