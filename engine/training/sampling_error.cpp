#include "engine/training/sampling_error.hpp"

#include "engine/training/metrics.hpp"
#include "genome/hash.hpp"
#include "genome/random.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace clade {

namespace {

/// Numbers that all samples together may hold, and how many samples there are.
constexpr std::size_t most_numbers = 20'000'000, least_samples = 20, most_samples = 100;

bool is_share(std::string_view metric) {
  return metric == "accuracy" || metric.starts_with("top_");
}

double binomial_error(double share, double examples) {
  const auto moved = (share * examples + 1) / (examples + 2);
  return std::sqrt(moved * (1 - moved) / examples);
}

/// The deviation of what `measure` says of samples of `examples`, of which each has so
/// many numbers; it is given indices.
template<class Measure>
double bootstrap_error(std::size_t examples, std::size_t numbers_each, Measure measure) {
  const auto samples =
      std::clamp(most_numbers / (examples * numbers_each), least_samples, most_samples);
  std::vector<std::size_t> drawn(examples);
  double sum = 0, squares = 0;
  for (std::size_t i = 0; i < samples; ++i) {
    auto random = derive(0, purpose::training, 0, hash64("samples of a metric"), i);
    for (auto& index : drawn)
      index = random.below(examples);
    const double value = measure(drawn);
    sum += value;
    squares += value * value;
  }
  const auto n = static_cast<double>(samples);
  return std::sqrt(std::max(0.0, (squares - sum * sum / n) / (n - 1)));
}

} // namespace

double sampling_error(const learning_task& task, std::string_view metric,
                      const class_predictions& p) {
  const auto examples = p.labels.size();
  if (examples < 2)
    return 0;
  if (is_share(metric))
    return binomial_error(measure(task, metric, p), static_cast<double>(examples));
  std::vector<std::int64_t> labels(examples);
  std::vector<float> scores(p.scores.size());
  return bootstrap_error(examples, p.classes, [&](const auto& drawn) {
    for (std::size_t i = 0; i < examples; ++i) {
      labels[i] = p.labels[drawn[i]];
      std::copy_n(p.scores.begin() + static_cast<std::ptrdiff_t>(drawn[i] * p.classes),
                  p.classes, scores.begin() + static_cast<std::ptrdiff_t>(i * p.classes));
    }
    return measure(task, metric, class_predictions{p.classes, labels, scores, p.names});
  });
}

double sampling_error(const learning_task& task, std::string_view metric,
                      const value_predictions& p) {
  const auto examples = p.actual.size();
  if (examples < 2)
    return 0;
  std::vector<double> actual(examples), predicted(examples);
  return bootstrap_error(examples, 2, [&](const auto& drawn) {
    for (std::size_t i = 0; i < examples; ++i) {
      actual[i] = p.actual[drawn[i]];
      predicted[i] = p.predicted[drawn[i]];
    }
    return measure(task, metric, value_predictions{actual, predicted, p.deviation});
  });
}

} // namespace clade
