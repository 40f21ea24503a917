// The time that a training may take: its pace, its deadline, and what counts where that cuts it.
#include "engine/collectives/team.hpp"
#include "engine/evaluation/epochs_in_time.hpp"
#include "engine/training/loop/running_loop.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace clade {

using steady_clock = std::chrono::steady_clock;

namespace {

constexpr std::chrono::milliseconds deadline_tolerance{100};

} // namespace

// If a member leaves, the others are to hear nothing but that.
bool training_loop::goes_on() {
  const auto said = team_->agree([this] {
    if (progress_.report(result_.curve.back()) || number_ == task_.epochs || complete())
      return verdict::goes_on;
    if (progress_.goes_on_later() && !progress_.wanted())
      throw task_dropped("it goes on in another process");
    // Whoever hears of epochs may have the same limit, and have begun to count before.
    const auto now = steady_clock::now();
    if (now <= task_.deadline - deadline_tolerance)
      return verdict::dropped;
    return pace_ && progress_.wanted() && now < latest_batch() ? verdict::goes_on
                                                               : verdict::out_of_time;
  });
  if (said == verdict::out_of_time)
    return cut(fmt::format("after epoch {}", number_));
  if (said == verdict::dropped)
    return end(outcome::dropped, fmt::format("stopped after epoch {}", number_));
  return true;
}

// Its best epoch counts, or what it learnt in a part of the first. A training that others
// go on from is compared with those that had as many epochs, so that a part of it counts
// for nothing.
bool training_loop::cut(const std::string& where) {
  if (task_.keep_position || (result_.curve.empty() && !assess_part())) {
    // A part may have diverged.
    return result_.outcome == outcome::succeeded
               ? end(outcome::timed_out, "out of time " + where)
               : false;
  }
  result_.updates.clear(); // It does not say where the training was cut.
  result_.reason = cut_by_time(where, task_.epochs);
  restore_best();
  return false;
}

/// Measures what was learnt in a part of the first epoch, as far as it is worth that; the
/// epoch's seconds are those that all of it would take.
bool training_loop::assess_part() {
  constexpr std::int64_t least_part = 10, least_steps = 32;
  const auto batches = source_.batches_per_epoch();
  const auto part = (batches + least_part - 1) / least_part;
  // A machine that stood still may have cut one whose rates follow the clock.
  const auto least = pace_ ? std::min(least_steps, part) : part;
  if (!team_->alone() || next_batch_ < least)
    return false;
  train_loss_ = mean_loss();
  if (!step_->settle() || !std::isfinite(train_loss_))
    return false;
  exchange_average();
  step_->show();
  if (!assess_epoch(number_, epoch_start_))
    return false;
  keep_if_best();
  exchange_average();
  static_cast<void>(progress_.report(result_.curve.back()));
  return true;
}

// The reserve is for validation: a forward pass takes about a third of a step.
training_pace::limits training_loop::limits_of_pace() const {
  const auto batches = static_cast<std::uint64_t>(source_.batches_per_epoch());
  constexpr double spare = 0.03; // For what comes after, and for a clock that runs on.
  auto end = task_.deadline;
  if (end != steady_clock::time_point::max())
    end -=
        std::chrono::duration_cast<steady_clock::duration>((end - epoch_start_) * spare);
  return {.steps = batches * task_.epochs,
          .begin = epoch_start_,
          .end = end,
          .reserve_steps = validation_steps()};
}

double training_loop::validation_steps() const {
  return static_cast<double>(source_.batches_per_epoch())
         * static_cast<double>(data_.validation.size(0))
         / (3 * static_cast<double>(data_.train.size(0)));
}

bool training_loop::complete() const {
  return pace_ && pace_->by_clock() && pace_->over(steps_before());
}

expected<void> training_loop::follow(const bytes& pace) {
  if (pace.empty() || !pace_)
    return {};
  return pace_->follow(pace);
}

/// Says in the result how far one came whose rates followed the clock.
void training_loop::say_pace() {
  if (!pace_ || !pace_->by_clock())
    return;
  result_.updates = pace_->log();
  const auto epochs = static_cast<double>(steps_before())
                      / static_cast<double>(source_.batches_per_epoch());
  if (epochs > task_.epochs - 0.05)
    return; // There was room for all.
  result_.reason = had_room_for(epochs, task_.epochs);
}

/// Returns when the first epoch must end for its part to be measured in time: a forward
/// pass takes about a third of a step.
steady_clock::time_point training_loop::latest_batch() const {
  if (task_.deadline == steady_clock::time_point::max())
    return task_.deadline;
  // One whose rates follow the clock ends by itself, a moment late if the machine was busy.
  if (pace_)
    return task_.deadline
           + std::max<steady_clock::duration>(std::chrono::milliseconds(500),
                                              (task_.deadline - begun_) / 20);
  if (!result_.curve.empty() || next_batch_ == 0)
    return task_.deadline;
  const double steps = validation_steps();
  const std::chrono::duration<double> each =
      (steady_clock::now() - epoch_start_) / static_cast<double>(next_batch_);
  return task_.deadline
         - std::chrono::duration_cast<steady_clock::duration>(each * steps);
}

} // namespace clade
