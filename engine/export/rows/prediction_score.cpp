#include "engine/export/rows/prediction_score.hpp"

#include "engine/data/bytes/in_quotes.hpp"
#include "engine/report/base/format.hpp"
#include "engine/training/metrics/metrics.hpp"
#include "genome/base/text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace clade {
namespace {

std::string formatted(const char* format, double v) {
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), format, v);
  return text.data();
}

void score_classes(std::span<const float> outputs, const new_targets& targets,
                   const preprocessing& how, prediction_score& score) {
  const auto width = how.classes.size();
  std::vector<std::int64_t> labels;
  std::vector<float> scores;
  for (std::size_t i = 0; i < targets.values.size(); ++i)
    if (!std::isnan(targets.values[i])) {
      labels.push_back(static_cast<std::int64_t>(targets.values[i]));
      const auto row = outputs.subspan(i * width, width);
      scores.insert(scores.end(), row.begin(), row.end());
    }
  score.rows = labels.size();
  const class_predictions p{
      .classes = width, .labels = labels, .scores = scores, .names = how.classes};
  for (const auto& m : all_part_metrics(how.task))
    // The three likeliest of two classes always hold the right one.
    if (const auto k = m.name.starts_with("top_") ? m.name.back() - '0' : 0;
        k == 0 || static_cast<std::size_t>(k) < width)
      score.metrics.push_back({std::string(m.name), measure(how.task, m.name, p)});
}

void score_values(std::span<const float> outputs, const new_examples& examples,
                  const preprocessing& how, const std::optional<interval_rule>& intervals,
                  prediction_score& score) {
  const auto& targets = *examples.targets;
  const auto& rows = examples.forecasts.rows;
  std::vector<double> actual, predicted, unit_actual, unit_predicted;
  std::uint64_t held = 0;
  for (std::size_t i = 0; i < targets.values.size(); ++i)
    if (!std::isnan(targets.values[i])) {
      const auto row = rows.empty() ? forecast_row() : rows[i];
      actual.push_back(targets.values[i]);
      predicted.push_back(decoded(outputs[i], how));
      unit_actual.push_back(row.offset + row.scale * actual.back());
      unit_predicted.push_back(row.offset + row.scale * predicted.back());
      if (intervals
          && std::abs(actual.back() - predicted.back()) <= intervals->reach(row.ahead))
        ++held;
    }
  score.rows = actual.size();
  const value_predictions p{.actual = actual,
                            .predicted = predicted,
                            .deviation = how.target_scales.front().deviation};
  const value_predictions in_units{.actual = unit_actual, .predicted = unit_predicted};
  for (const auto& m : all_part_metrics(how.task))
    score.metrics.push_back(
        {std::string(m.name),
         measure(how.task, m.name, is_of_shares(m.name) ? in_units : p)});
  if (!rows.empty())
    score.metrics.push_back({"mase", mean_absolute_error(p)});
  if (intervals && score.rows > 0)
    score.coverage = static_cast<double>(held) / static_cast<double>(score.rows);
}

/// The metrics of all targets, or labels, and those of each.
void score_several(std::span<const float> outputs, const new_targets& targets,
                   const preprocessing& how,
                   const std::optional<interval_rule>& intervals,
                   prediction_score& score) {
  const std::size_t width = how.classes.size();
  std::vector<double> actual, predicted;
  std::uint64_t held = 0;
  for (std::size_t i = 0; i < targets.values.size(); ++i)
    if (!std::isnan(targets.values[i])) {
      actual.push_back(targets.values[i]);
      predicted.push_back(decoded(outputs[i], how, i % width));
      if (intervals
          && std::abs(actual.back() - predicted.back())
                 <= intervals->reach_of_target(i % width))
        ++held;
    }
  if (intervals && !actual.empty())
    score.coverage = static_cast<double>(held) / static_cast<double>(actual.size());
  const several_predictions p{width, actual, predicted, how.target_scales, how.classes};
  score.rows = p.examples();
  for (const auto& m : all_part_metrics(how.task))
    score.metrics.push_back({std::string(m.name), measure(how.task, m.name, p)});
  for (const auto& name : how.classes)
    for (const auto metric : metrics_of_each(how.task)) {
      const auto of_one = fmt::format("{}.{}", metric, name);
      score.metrics.push_back({of_one, measure(how.task, of_one, p)});
    }
}

} // namespace

expected<prediction_score>
score_predictions(std::span<const float> outputs, const new_examples& examples,
                  const preprocessing& how,
                  const std::optional<interval_rule>& intervals) {
  const auto& targets = *examples.targets;
  prediction_score score{.left_out = targets.blanks + targets.unknown};
  if (std::ranges::all_of(targets.values, [](double v) { return std::isnan(v); }))
    return fail(error_kind::invalid_input,
                left_out_text(targets) + ", so that there is nothing to score");
  if (how.task.has_classes())
    score_classes(outputs, targets, how, score);
  else if (!how.classes.empty())
    score_several(outputs, targets, how, intervals, score);
  else
    score_values(outputs, examples, how, intervals, score);
  return score;
}

std::string left_out_text(const new_targets& targets) {
  std::string text;
  if (targets.blanks > 0)
    text = fmt::format("{}{} no target", counted(targets.blanks, "row"),
                       targets.blanks == 1 ? " has" : " have");
  if (targets.unknown > 0)
    text +=
        fmt::format("{}{}{} one that the training data does not have, such as {}",
                    text.empty() ? "" : ", and ", counted(targets.unknown, "row"),
                    targets.unknown == 1 ? " has" : " have", in_quotes(targets.example));
  return text;
}

std::string score_text(const prediction_score& score, std::optional<double> level) {
  std::string text = counted(score.rows, "row") + ": ";
  for (std::size_t i = 0; i < score.metrics.size(); ++i)
    text += fmt::format("{}{} {}", i == 0 ? "" : ", ", score.metrics[i].name,
                        metric_text(score.metrics[i].value));
  if (level && score.coverage)
    text += fmt::format("\n{} % intervals hold {} % of the targets",
                        formatted("%.4g", 100 * *level),
                        formatted("%.1f", 100 * *score.coverage));
  return text + "\n";
}

std::string score_json(const prediction_score& score, std::optional<double> level) {
  nlohmann::ordered_json out{{"rows", score.rows}, {"left_out", score.left_out}};
  out["metrics"] = nlohmann::ordered_json::object();
  for (const auto& m : score.metrics)
    out["metrics"][m.name] = m.value;
  if (level && score.coverage)
    out["intervals"] = {{"level", *level}, {"coverage", *score.coverage}};
  return out.dump() + "\n";
}

} // namespace clade
