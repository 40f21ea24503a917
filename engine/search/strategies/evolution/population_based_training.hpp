#pragma once

#include "engine/search/bases/generations.hpp"
#include "engine/search/bases/rungs.hpp"

namespace clade {

/// Population based training (Jaderberg et al., "Population Based Training of Neural
/// Networks", arXiv 1711.09846, 2017): hyperparameters change while weights are kept, so
/// that a schedule is found and not a value. `population` members are trained together,
/// to the first rung in the first generation, to the next in each that follows. Between
/// two of them
///
///   exploit   whoever is in the bottom quarter, or failed, is replaced by a copy of a
///             member drawn from the top quarter, its weights with it
///   explore   of a copy each hyperparameter that is a number is drawn anew with the
///             chance 0.25, else moved as a mutation moves it (the paper: times 0.8 or
///             1.2)
///
/// and the others are trained on as they are. Words among the hyperparameters (optimiser,
/// schedule) and the graph stay, as what has been trained depends on them. Rungs lie at
/// even distances unless given; with as many as there are generations the search is one
/// population's training. With fewer, another population begins after the last: mutants,
/// or by `crossover` crosses, of winners of a tournament in the one before, with new
/// weights.
///
/// To take where the best learning rate, momentum or weight decay changes in the course
/// of a long training. Its champion is its weights: training the same hyperparameters
/// again from the beginning gives something else.
class population_based_training final : public generations {
public:
  using generations::generations;

  /// Whether the space has a number among its hyperparameters.
  [[nodiscard]] static expected<void> serves(const search_space& space);

  void close() override;

private:
  void choose_parents(breeding& order) const override;
  [[nodiscard]] std::size_t staying() const override { return 0; }
  [[nodiscard]] std::size_t surviving() const override { return params().population; }

  /// The members of the generation before that can be trained on, best first.
  std::vector<individual> members_;
};

} // namespace clade
