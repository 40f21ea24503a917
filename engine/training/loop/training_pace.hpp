#pragma once

#include "genome/codec/codec.hpp"

#include <chrono>
#include <cstdint>
#include <vector>

namespace clade {

/// How far a training has come, from 0 to 1, at each of its steps. Rates of learning are
/// functions of that alone, so that a training is complete whenever it arrives at 1.
///
/// A training has so many steps. Step i of n is at i / n, as long as it is not plain that
/// they do not fit into its time. Otherwise the clock decides from then on: the training
/// goes on in slices, each of so many steps over which the progress rises in a line. At
/// the start of a slice the steps that the rest of the time has room for are known from
/// the speed so far, and a part of them is the next slice. A machine that becomes slower
/// makes the next slice shorter, and every training arrives at 1 in time.
///
/// The slices are the log of what the clock decided. A training that is given the log makes
/// the same steps with the same rates again, without a clock.
class training_pace {
public:
  using clock = std::chrono::steady_clock;

  /// The limits of a training. `reserve_steps`: of the time, so much as these steps take
  /// is for what follows the last step.
  struct limits {
    std::uint64_t steps = 1;
    clock::time_point begin{}, end = clock::time_point::max();
    double reserve_steps = 0;
  };

  explicit training_pace(const limits& l) : limits_(l) {}

  /// Follows this log from the start, without a clock. An error: these are other bytes, or
  /// a log of another number of steps.
  [[nodiscard]] expected<void> follow(const bytes& log);

  /// Goes on before `step`, after the decisions in `log`, which may be empty: the rest of
  /// the progress has as much of the time as it would have had.
  [[nodiscard]] expected<void> go_on(const bytes& log, std::uint64_t step,
                                     clock::time_point now);

  /// To be called before each step, which it may decide on. `step` counts from 0.
  void look(std::uint64_t step, clock::time_point now);

  /// The progress before that step, below 1.
  [[nodiscard]] double progress(std::uint64_t step) const;

  /// Whether the training is complete before that step.
  [[nodiscard]] bool over(std::uint64_t step) const;

  /// Whether the clock decided.
  [[nodiscard]] bool by_clock() const { return !slices_.empty(); }

  /// The decisions so far; empty if the clock decided nothing.
  [[nodiscard]] bytes log() const;

private:
  struct slice {
    std::uint64_t first = 0, steps = 1;
    double from = 0, to = 1;
  };

  [[nodiscard]] bool has_clock() const { return limits_.end != clock::time_point::max(); }
  [[nodiscard]] expected<void> read(const bytes& log);
  [[nodiscard]] double steps_left(clock::time_point now) const;
  void measure(std::uint64_t step, clock::time_point now);
  void begin_slice(std::uint64_t step, clock::time_point now);

  limits limits_;
  std::vector<slice> slices_;
  double speed_ = 0; ///< Steps per second.
  std::uint64_t measured_step_ = 0;
  clock::time_point measured_at_{};
};

} // namespace clade
