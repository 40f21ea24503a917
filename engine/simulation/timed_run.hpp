#pragma once

#include "engine/run/state/run_state.hpp"
#include "engine/simulation/made_up_world.hpp"
#include "search_spaces/operators/network.hpp"

#include <memory>
#include <vector>

namespace clade {

struct timed_run_params {
  run_rules rules;
  clade::problem problem;
  made_up_world world;
  std::uint32_t epochs = 15;     ///< A training of the search has so many.
  double evaluation_seconds = 0; ///< It is cut after so many; 0: never.
};

/// The validation error of the model that `predict` takes from then on.
struct model_at_hand {
  double at = 0; ///< Seconds since the start.
  double error = 0;
};

struct timed_run {
  std::vector<model_at_hand> models; ///< In the order of time.
  double trained_until = 0;          ///< Then the final model begins to be put together.
  double ended = 0;                  ///< Seconds since the start.
  std::size_t evaluated = 0;
  std::size_t finals = 0;      ///< Trainings of the end that were used.
  std::size_t planned = 0;     ///< Trainings of the end that were planned.
  std::size_t dropped = 0;     ///< Planned ones that the clock dropped.
  double best_validated = 0.9; ///< The least error that any of its models had.
  /// The least error that a slot of its own would have brought one of the networks that the
  /// run tried, trained from the first second to the last.
  double hindsight = 0.9;
};

/// Returns the run that `clade new --run --minutes` makes of a world, whose measurement was
/// right, over that space. Fails where the search cannot be.
[[nodiscard]] expected<timed_run_params>
planned_run(const made_up_world& world, std::shared_ptr<const search_space> space);

/// Makes a run that is given a time, as a head would that has a clock and slots: what is
/// due, who plans and shares the time of the end, and what the clock orders are the functions
/// that the live run calls. A function of its arguments. Fails where the search cannot be.
[[nodiscard]] expected<timed_run> simulate_timed_run(const timed_run_params& params);

/// The rule that a run must beat: one slot trains the network from the first second to the
/// last, its rates by the clock, and what it has is at hand a hundred times on the way.
[[nodiscard]] timed_run train_one_network(const made_up_world& world,
                                          genome_hash network);

/// Returns the error at hand after so many seconds; 0.9 where there is no model.
[[nodiscard]] double error_at(const timed_run& run, double seconds);
/// Returns the mean of that over the first so many.
[[nodiscard]] double mean_error(const timed_run& run, double seconds);

} // namespace clade
