#include "engine/report/base/best_curve.hpp"

#include <algorithm>

namespace clade {

namespace {

bool better(double a, double b, bool maximize) {
  return maximize ? a > b : a < b;
}

} // namespace

working_time::working_time(std::span<const node_overview> nodes, std::int64_t start_ms,
                           std::int64_t end_ms) {
  std::vector<stretch> all;
  for (const auto& n : nodes)
    all.push_back({n.joined_ms, std::max(n.joined_ms, n.left_ms.value_or(end_ms))});
  if (all.empty())
    all.push_back({start_ms, std::max(start_ms, end_ms)});
  std::ranges::sort(all, {}, &stretch::begin_ms);
  for (const auto& one : all) {
    if (!stretches_.empty() && one.begin_ms <= stretches_.back().end_ms)
      stretches_.back().end_ms = std::max(stretches_.back().end_ms, one.end_ms);
    else
      stretches_.push_back(one);
  }
}

double working_time::seconds_until(std::int64_t unix_ms) const {
  std::int64_t sum = 0;
  for (const auto& s : stretches_)
    sum += std::clamp(unix_ms, s.begin_ms, s.end_ms) - s.begin_ms;
  return static_cast<double>(sum) / 1000;
}

double working_time::seconds() const {
  return stretches_.empty() ? 0 : seconds_until(stretches_.back().end_ms);
}

std::vector<best_step> best_by_evaluations(std::span<const evaluation_row> evaluations,
                                           bool maximize) {
  std::vector<best_step> steps;
  double count = 0;
  for (const auto& e : evaluations) {
    ++count;
    if (e.fitness && (steps.empty() || better(*e.fitness, steps.back().best, maximize)))
      steps.push_back({.effort = count, .best = *e.fitness});
  }
  return steps;
}

arrived_best best_by_arrival(std::vector<evaluation_row> evaluations, bool maximize) {
  std::ranges::sort(evaluations, {}, &evaluation_row::sequence);
  arrived_best found;
  double seconds = 0;
  for (const auto& e : evaluations) {
    seconds += e.seconds;
    auto& steps = found.by_training;
    if (!e.fitness || !(steps.empty() || better(*e.fitness, steps.back().best, maximize)))
      continue;
    steps.push_back({.effort = seconds, .best = *e.fitness});
    found.sequences.push_back(e.sequence);
  }
  return found;
}

expected<best_curve> view_best_curve(const store& s, const run_overview& o) {
  std::vector<evaluation_row> evaluations;
  evaluations.reserve(o.evaluated);
  if (auto ok = s.for_each_evaluation(
          [&](const evaluation_row& e) { evaluations.push_back(e); });
      !ok)
    return tl::unexpected(ok.error());
  const auto nodes = s.nodes();
  if (!nodes)
    return tl::unexpected(nodes.error());
  const working_time work(*nodes, o.started_ms, o.updated_ms);
  best_curve curve{.evaluations = static_cast<double>(evaluations.size()),
                   .training_seconds = o.training_seconds,
                   .wall_seconds = work.seconds()};
  curve.by_evaluations = best_by_evaluations(evaluations, o.goal.maximize);
  auto arrived = best_by_arrival(std::move(evaluations), o.goal.maximize);
  curve.by_training = std::move(arrived.by_training);
  for (std::size_t i = 0; i < arrived.sequences.size(); ++i) {
    const auto at = s.recorded_ms(arrived.sequences[i]);
    if (!at)
      return tl::unexpected(at.error());
    curve.by_wall.push_back(
        {.effort = work.seconds_until(*at), .best = curve.by_training[i].best});
  }
  return curve;
}

std::optional<double> best_at(std::span<const best_step> steps, double effort) {
  const auto after = std::ranges::upper_bound(steps, effort, {}, &best_step::effort);
  return after == steps.begin() ? std::nullopt : std::optional(std::prev(after)->best);
}

} // namespace clade
