#pragma once

#include "engine/evaluation/evaluator_spec.hpp"
#include "search_spaces/operators/network.hpp"

namespace clade {

/// `[synthetic]`: a fitness without training, for tests, benchmarks and demonstrations.
/// Fitness rises with how close the genome is to a hidden optimum (a pure function of
/// genome and seed: `score` in [0, 1] as "validation.accuracy", 1 - score as
/// "validation.loss"), and a share of the candidates, drawn by (seed, id), misbehave as
/// real ones do. A candidate that is trained for k of n epochs has k / n of its score;
/// one that goes on from another's training spends the time of its further epochs alone.
/// Nothing is read of the limits in a `budget` but `time`.
struct synthetic_params {
  std::chrono::microseconds duration{0}; ///< Spent on each; spread +-50 % by (seed, id).
  double diverge = 0;                    ///< Share whose loss becomes NaN.
  double crash = 0;                      ///< Share that kill their process with SIGSEGV.
  double hang = 0;                       ///< Share that never return.
  double hog = 0;                        ///< Share that allocate until there is no more.
  double hang_test = 0;                  ///< Share whose test never returns.
  /// The epochs of a full training; each is reported.
  std::uint32_t epochs = 1;
};

[[nodiscard]] expected<void> validate(const synthetic_params& params);

struct synthetic_setup {
  synthetic_params params;
  search_space space;
  clade::problem problem;
  objective goal;
};

/// Reports the parameters of the decoded network, and where the goal asks for them its
/// multiply-adds and a latency that follows from these; a genome that does not decode is
/// invalid.
[[nodiscard]] std::unique_ptr<fitness_function> make_synthetic(synthetic_setup setup);

/// The kind "synthetic" with its defaults.
[[nodiscard]] std::shared_ptr<const evaluator_spec> make_synthetic_spec();

} // namespace clade
