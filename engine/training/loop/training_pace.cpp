#include "engine/training/loop/training_pace.hpp"

#include "engine/training/weights/sealed.hpp"

#include <algorithm>
#include <cmath>

// Grammar (msgpack):
//
//     log     = [ "clade-pace", 1, payload, checksum ]        sealed.hpp
//     payload = [ steps, first, [ slice... ] ]                all steps; the first of a slice
//     slice   = [ steps, to ]                                 its own, and the progress after it

namespace clade {

namespace {

constexpr sealed_format format{.name = "clade-pace",
                               .version = 1,
                               .place = "log of a pace",
                               .one = "a log of a pace"};

// The first look is after this share of the time, since the first steps are the slowest;
// the clock takes over if it leaves room for less than this share of the steps.
constexpr double first_look = 1.0 / 32, least_room = 0.95;
// A slice is this share of the steps that are left.
constexpr double slice_share = 1.0 / 16;
// The last measurement counts for so much of the speed.
constexpr double newest_weight = 0.5;

double seconds(training_pace::clock::duration d) {
  return std::chrono::duration<double>(d).count();
}

} // namespace

expected<void> training_pace::read(const bytes& log) {
  const auto payload = unseal(format, log);
  if (!payload)
    return tl::unexpected(payload.error());
  decoder in(*payload);
  in.array(3);
  if (in.natural() != limits_.steps)
    in.fail("it is of a training with other steps");
  slice next{.first = in.natural()};
  next.to = static_cast<double>(next.first) / static_cast<double>(limits_.steps);
  slices_.clear();
  for (auto left = in.array(); left > 0 && !in.failed(); --left) {
    in.array(2);
    next.from = next.to;
    next.steps = in.natural();
    next.to = in.real();
    const bool fits = next.first < limits_.steps && next.steps >= 1
                      && next.steps <= limits_.steps - next.first && next.to >= next.from
                      && next.to <= 1;
    if (!fits) {
      in.fail("a slice that does not fit");
      break;
    }
    slices_.push_back(next);
    next.first += next.steps;
  }
  if (auto whole = in.finish(); !whole) {
    slices_.clear();
    return whole;
  }
  return {};
}

expected<void> training_pace::follow(const bytes& log) {
  limits_.end = clock::time_point::max();
  return log.empty() ? expected<void>{} : read(log);
}

expected<void> training_pace::go_on(const bytes& log, std::uint64_t step,
                                    clock::time_point now) {
  if (auto fits = log.empty() ? expected<void>{} : read(log); !fits)
    return fits;
  if (!has_clock())
    return {};
  const auto rest = std::chrono::duration_cast<clock::duration>(
      (limits_.end - limits_.begin) * (1 - progress(step)));
  limits_.end = std::min(limits_.end, now + rest);
  limits_.begin = now;
  return {};
}

void training_pace::measure(std::uint64_t step, clock::time_point now) {
  if (measured_at_ == clock::time_point{} || step <= measured_step_) {
    measured_at_ = now;
    measured_step_ = step;
    return;
  }
  const double taken = std::max(1e-9, seconds(now - measured_at_));
  const double newest = static_cast<double>(step - measured_step_) / taken;
  speed_ = speed_ == 0 ? newest : newest_weight * newest + (1 - newest_weight) * speed_;
  measured_at_ = now;
  measured_step_ = step;
}

double training_pace::steps_left(clock::time_point now) const {
  return seconds(limits_.end - now) * speed_ - limits_.reserve_steps;
}

void training_pace::begin_slice(std::uint64_t step, clock::time_point now) {
  const double from = progress(step);
  const auto by_count = limits_.steps - step;
  // Right after it goes on, a training knows no speed, and finds it out by one step.
  const bool knows_speed = speed_ > 0;
  const double room = std::floor(std::max(1.0, steps_left(now)));
  const auto left = knows_speed && room < static_cast<double>(by_count)
                        ? static_cast<std::uint64_t>(room)
                        : by_count;
  const auto steps = knows_speed ? static_cast<std::uint64_t>(std::max(
                         1.0, std::floor(slice_share * static_cast<double>(left))))
                                 : 1;
  const double to =
      steps >= left
          ? 1
          : from + (1 - from) * static_cast<double>(steps) / static_cast<double>(left);
  slices_.push_back({.first = step, .steps = steps, .from = from, .to = to});
}

void training_pace::look(std::uint64_t step, clock::time_point now) {
  if (!has_clock() || over(step))
    return;
  if (by_clock()) {
    const auto& last = slices_.back();
    const bool ends = step >= last.first + last.steps;
    if (ends || measured_at_ == clock::time_point{})
      measure(step, now);
    if (ends)
      begin_slice(step, now);
    return;
  }
  // The first step is not measured: it pays for much that later ones find.
  if (measured_at_ == clock::time_point{}) {
    if (step > 0)
      measure(step, now);
    return;
  }
  const auto interval = std::chrono::duration_cast<clock::duration>(
      (limits_.end - limits_.begin) * first_look);
  if (now - measured_at_ < interval || now - limits_.begin < interval)
    return;
  measure(step, now);
  if (steps_left(now) >= least_room * static_cast<double>(limits_.steps - step))
    return;
  begin_slice(step, now);
}

double training_pace::progress(std::uint64_t step) const {
  if (!by_clock() || step < slices_.front().first) {
    const auto all = static_cast<double>(limits_.steps);
    return std::min(static_cast<double>(step), all - 1) / all;
  }
  const auto after = std::ranges::upper_bound(slices_, step, {}, &slice::first);
  const auto& s = *std::prev(after);
  const double done =
      std::min(1.0, static_cast<double>(step - s.first) / static_cast<double>(s.steps));
  // A rate of exactly nothing would make its step one in vain.
  return std::min(s.from + (s.to - s.from) * done, 1 - 1e-9);
}

bool training_pace::over(std::uint64_t step) const {
  if (step >= limits_.steps)
    return true;
  if (!by_clock())
    return false;
  const auto& last = slices_.back();
  // A log that is followed without a clock ends where the training did.
  return step >= last.first + last.steps && (!has_clock() || last.to >= 1);
}

bytes training_pace::log() const {
  if (!by_clock())
    return {};
  encoder out;
  out.array(3).natural(limits_.steps).natural(slices_.front().first);
  out.array(slices_.size());
  for (const auto& s : slices_)
    out.array(2).natural(s.steps).real(s.to);
  return seal(format, out.take());
}

} // namespace clade
