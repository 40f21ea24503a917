#pragma once

#include "engine/search/core/candidate.hpp"
#include "genome/base/random.hpp"

#include <cstddef>
#include <vector>

namespace clade {

/// Epsilon-lexicase selection (La Cava, Spector and Danai, "Epsilon-lexicase selection
/// for regression", GECCO 2016; the semi-dynamic form of La Cava, Helmuth, Spector and
/// Moore, Evolutionary Computation 27, 2019). Each parent is found by filtering all:
///
///   the cases in a random order; for each, of those left stay they that are within
///   epsilon of the best of those left; of the last, one by an even chance
///
///   epsilon of a case = median(|v - median(v)|) over the population's values v
///
/// The cases are the metrics of an evaluation (`individual::cases`, greater is better);
/// of individuals that have none, their fitness's. Whoever is best at anything breeds,
/// and no weights between metrics have to be known. Take it where several metrics say
/// different things (accuracy and loss, several errors); with one case it is little more
/// than a truncation.
class lexicase {
public:
  lexicase() = default;
  /// Costs time in proportion to individuals x cases x log(individuals).
  explicit lexicase(const std::vector<individual>& population);

  /// An index into that population, which was not empty.
  [[nodiscard]] std::size_t select(random_stream& random) const;

private:
  std::size_t population_ = 0;
  /// For each case the value of each individual, and epsilon.
  std::vector<std::vector<double>> values_;
  std::vector<double> epsilons_;
};

} // namespace clade
