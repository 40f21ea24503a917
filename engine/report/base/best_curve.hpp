#pragma once

#include "engine/store/run/store.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace clade {

/// A point at which the best so far became better, by some measure of effort.
struct best_step {
  double effort = 0;
  double best = 0;
};

/// How fast a run became good, by three measures.
struct best_curve {
  /// By candidates in the order in which they were asked for: the same whatever the
  /// order in which their evaluations arrived.
  std::vector<best_step> by_evaluations;
  std::vector<best_step> by_training; ///< Seconds, summed over all slots.
  std::vector<best_step> by_wall;     ///< Seconds in which the run had a slot.
  double evaluations = 0, training_seconds = 0, wall_seconds = 0; ///< All of them.
};

/// Stretches of time in which there was any slot: a run that is paused costs none.
class working_time {
public:
  /// `end_ms`: until when slots that never left were there.
  working_time(std::span<const node_overview> nodes, std::int64_t start_ms,
               std::int64_t end_ms);

  /// How much of it there was before a moment.
  [[nodiscard]] double seconds_until(std::int64_t unix_ms) const;
  [[nodiscard]] double seconds() const;

  struct stretch {
    std::int64_t begin_ms = 0, end_ms = 0;
  };
  [[nodiscard]] const std::vector<stretch>& stretches() const { return stretches_; }

private:
  std::vector<stretch> stretches_; ///< In order, none touching another.
};

/// Evaluations in the order of ids.
[[nodiscard]] std::vector<best_step>
best_by_evaluations(std::span<const evaluation_row> evaluations, bool maximize);

/// The same in the order in which they arrived, by seconds of training. `sequences`: of
/// the record that brought each step.
struct arrived_best {
  std::vector<best_step> by_training;
  std::vector<std::uint64_t> sequences;
};
[[nodiscard]] arrived_best best_by_arrival(std::vector<evaluation_row> evaluations,
                                           bool maximize);

/// Takes 56 bytes an evaluation while it works.
[[nodiscard]] expected<best_curve> view_best_curve(const store& s, const run_overview& o);

/// The best after so much effort; none before the first success.
[[nodiscard]] std::optional<double> best_at(std::span<const best_step> steps,
                                            double effort);

} // namespace clade
