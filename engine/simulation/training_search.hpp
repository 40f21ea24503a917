#pragma once

#include "engine/evaluation/evaluating.hpp"
#include "engine/run/state/run_state.hpp"
#include "search_spaces/operators/network.hpp"

#include <optional>

namespace clade {

struct training_search_params {
  run_rules rules;
  clade::problem problem;
  /// How much processor time the trainings may take together.
  double seconds = 60;
};

struct training_search_result {
  std::size_t trained = 0;   ///< Trainings that ended within the time.
  std::size_t failed = 0;    ///< The number of these that failed.
  double seconds = 0;        ///< The seconds that they took.
  double engine_seconds = 0; ///< Processor time of all else: asking, breeding, folding.
  evaluation champion;       ///< The best by validation.
  std::uint32_t champion_epochs = 0; ///< 0: a full training's.
  examination tested;                ///< The champion on the test data.
};

/// Runs a search in the caller's thread, as a head with one slot would, until its
/// trainings have taken the time; then the champion meets the test data, once. A training
/// that would end later does not count. Copies of equal networks are free, and where the
/// generations end early the search is given more. Only candidates with the longest
/// training of all can be the champion. Fails where nothing succeeded within the time.
[[nodiscard]] expected<training_search_result>
search_by_training(const training_search_params& params, const evaluating& by);

} // namespace clade
