#pragma once

#include "engine/search/bases/generations.hpp"

namespace clade {

/// NSGA-II (Deb, Pratap, Agarwal and Meyarivan, "A fast and elitist multiobjective
/// genetic algorithm: NSGA-II", IEEE TEC 6(2), 2002): the whole front of two or three
/// objectives at once. Parents and children, 2 x population, are sorted into fronts by
/// domination, the infeasible behind by how much they miss; the best fronts survive, and
/// of the one that does not fit whole those with the greatest crowding distance
///
///   d(i) = sum over objectives m of (f_m(next of i) - f_m(previous of i))
///                                   / (max f_m - min f_m)
///
/// the ends of each objective first. A parent wins a tournament of two, by front and then
/// by distance. Children are the engine's own: a mutation, or with the chance `crossover`
/// a cross of two parents that is mutated.
///
/// When to take it: two or three objectives and a population of at least some twenty.
/// With more, almost everything is in the first front and distance alone decides: nsga3.
class nsga2 final : public generations {
public:
  using generations::generations;

private:
  void choose_parents(breeding& order) const override;
  [[nodiscard]] std::size_t staying() const override { return params().population; }
  [[nodiscard]] std::size_t surviving() const override { return params().population; }
  [[nodiscard]] std::vector<individual> select() const override;
};

} // namespace clade
