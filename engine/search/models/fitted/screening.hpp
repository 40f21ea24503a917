#pragma once

#include "engine/search/models/fitted/surrogate.hpp"
#include "genome/base/random.hpp"
#include "genome/genes/genome.hpp"

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

namespace clade {

/// How children are looked for with a model of fitness: surrogate-assisted evolution
/// (Jin, Swarm and Evolutionary Computation, 2011) with the acquisition of Bayesian
/// optimisation. Time goes in proportion to children + samples
/// + climbs * climb_steps * neighbours.
struct screening_params {
  /// The best so many are parents; the better half of them most often.
  std::size_t parents = 10;
  /// Children of theirs that are looked at.
  std::size_t children = 120;
  /// The chance that such a child has two parents.
  double crossover = 0.3;
  /// Random genomes that are looked at, in case the best so far are all in one valley.
  std::size_t samples = 40;
  /// The most promising so many are climbed from, by mutations, while that pays.
  std::size_t climbs = 3;
  std::size_t climb_steps = 4;
  std::size_t neighbours = 24; ///< Mutants that a step of a climb looks at.
};

/// The knowledge that screening has of a search space. All are pure but for the stream.
struct variation_operators {
  std::function<genome(random_stream&)> sample;
  std::function<genome(const genome&, random_stream&)> mutate;
  std::function<genome(const genome& fitter, const genome& other, random_stream&)> cross;
  std::function<std::vector<double>(const genome&)> encode;
  /// Evaluated or under way: not to be asked for again.
  std::function<bool(const genome&)> known;
};

/// The logarithm of how much better than `best` a genome is expected to be,
///
///     E max(f - best, 0) = s (phi(u) + u Phi(u)),   u = (mean - best) / s,   s = spread
///
/// (Mockus, 1975; Jones, Schonlau and Welch, 1998), without loss of digits where that is
/// very small (Ament et al., NeurIPS 2023), in portable arithmetic.
[[nodiscard]] double log_expected_improvement(const prediction& p, double best);

/// E max(f - above, 0).
[[nodiscard]] double expected_excess(const prediction& p, double above);

/// That f is above that value, to a relative 1e-14 however small it is.
[[nodiscard]] double chance_above(const prediction& p, double value);

/// How much a genome of these features promises; greater is better.
using promise_function = std::function<double(std::span<const double> features)>;

/// The unknown genome that promises the most among children of the parents (best first,
/// at least one), random ones, and what climbs from the most promising of these reach,
/// and those that come next, at most `count`, for another to choose from. Empty where
/// everything that came up is known.
///
/// With several candidates in flight the model should `believe` each of them first.
[[nodiscard]] std::vector<genome>
screen_several(const promise_function& promise, std::span<const genome* const> parents,
               const variation_operators& operators, const screening_params& params,
               random_stream& random, std::size_t count);

} // namespace clade
