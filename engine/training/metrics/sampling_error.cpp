#include "engine/training/metrics/sampling_error.hpp"

#include "engine/training/metrics/metrics.hpp"
#include "genome/base/random.hpp"
#include "genome/genes/hash.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace clade {

namespace {

/// Numbers that all samples together may hold, and how many samples there are.
constexpr std::size_t most_numbers = 20'000'000, least_samples = 20, most_samples = 100;
/// The same for intervals, whose ends are rarer than a deviation's values.
constexpr std::size_t most_interval_numbers = 200'000'000, least_resamples = 100,
                      most_resamples = 1000;
/// A metric that sorts the examples takes as long as one that adds up so many numbers more.
constexpr std::size_t cost_of_sorting = 16;

bool is_share(std::string_view metric) {
  return metric == "accuracy" || metric.starts_with("top_");
}

double binomial_error(double share, double examples) {
  const auto moved = (share * examples + 1) / (examples + 2);
  return std::sqrt(moved * (1 - moved) / examples);
}

/// Returns what `measure` says of so many resamples of the examples; it is given indices.
/// `stream` makes the random stream of a resample.
template<class Stream, class Measure>
std::vector<double> resampled(std::size_t examples, std::size_t samples, Stream stream,
                              Measure measure) {
  std::vector<std::size_t> drawn(examples);
  std::vector<double> values;
  for (std::size_t i = 0; i < samples; ++i) {
    random_stream random = stream(i);
    for (auto& index : drawn)
      index = random.below(examples);
    values.push_back(measure(drawn));
  }
  return values;
}

/// Returns a function from indices of examples to the metric of these.
auto measured_by(const learning_task& task, std::string_view metric,
                 const class_predictions& p) {
  return [&task, metric, p, labels = std::vector<std::int64_t>(p.labels.size()),
          scores = std::vector<float>(p.scores.size())](
             std::span<const std::size_t> drawn) mutable {
    for (std::size_t i = 0; i < drawn.size(); ++i) {
      labels[i] = p.labels[drawn[i]];
      std::copy_n(p.scores.begin() + static_cast<std::ptrdiff_t>(drawn[i] * p.classes),
                  p.classes, scores.begin() + static_cast<std::ptrdiff_t>(i * p.classes));
    }
    return measure(task, metric, class_predictions{p.classes, labels, scores, p.names});
  };
}

auto measured_by(const learning_task& task, std::string_view metric,
                 const value_predictions& p) {
  return [&task, metric, p, actual = std::vector<double>(p.actual.size()),
          predicted = std::vector<double>(p.actual.size())](
             std::span<const std::size_t> drawn) mutable {
    for (std::size_t i = 0; i < drawn.size(); ++i) {
      actual[i] = p.actual[drawn[i]];
      predicted[i] = p.predicted[drawn[i]];
    }
    return measure(task, metric, value_predictions{actual, predicted, p.deviation});
  };
}

auto measured_by(const learning_task& task, std::string_view metric,
                 const several_predictions& p) {
  return [&task, metric, p, actual = std::vector<double>(p.actual.size()),
          predicted = std::vector<double>(p.actual.size())](
             std::span<const std::size_t> drawn) mutable {
    const auto copy = [&](std::span<const double> from, std::vector<double>& to,
                          std::size_t i) {
      const auto row = from.subspan(drawn[i] * p.targets, p.targets);
      std::ranges::copy(row, to.begin() + static_cast<std::ptrdiff_t>(i * p.targets));
    };
    for (std::size_t i = 0; i < drawn.size(); ++i) {
      copy(p.actual, actual, i);
      copy(p.predicted, predicted, i);
    }
    return measure(task, metric,
                   several_predictions{p.targets, actual, predicted, p.scales, p.names});
  };
}

/// The deviation of the metric over resamples of examples that have so many numbers each.
template<class Measure>
double bootstrap_error(std::size_t examples, std::size_t numbers_each, Measure measure) {
  const auto samples =
      std::clamp(most_numbers / (examples * numbers_each), least_samples, most_samples);
  const auto stream = [key = hash64("samples of a metric")](std::size_t i) {
    return derive(0, purpose::training, 0, key, i);
  };
  double sum = 0, squares = 0;
  for (const double value : resampled(examples, samples, stream, std::move(measure))) {
    sum += value;
    squares += value * value;
  }
  const auto n = static_cast<double>(samples);
  return std::sqrt(std::max(0.0, (squares - sum * sum / n) / (n - 1)));
}

/// The deviation of the difference of two metrics of so many examples. A resample that has
/// no such metric, of a class that is not in it, say, shows no difference.
template<class Measure>
double paired_error(std::string_view metric, std::size_t examples,
                    std::size_t numbers_each, Measure a, Measure b) {
  if (examples < 2)
    return std::numeric_limits<double>::infinity();
  const double error = bootstrap_error(
      examples, 2 * numbers_each, [&](std::span<const std::size_t> drawn) {
        const double difference = a(drawn) - b(drawn);
        return std::isfinite(difference) ? difference : 0;
      });
  return is_share(metric) ? std::hypot(error, 1 / static_cast<double>(examples)) : error;
}

template<class Measure>
std::optional<metric_interval> interval_of(std::string_view metric, std::size_t examples,
                                           std::size_t numbers_each, std::uint64_t seed,
                                           Measure measure) {
  constexpr double outside = 0.025; // On either side.
  if (examples < 2)
    return std::nullopt;
  const auto samples = std::clamp(most_interval_numbers / (examples * numbers_each),
                                  least_resamples, most_resamples);
  const auto stream = [seed, key = hash64("resamples of the test part")](std::size_t i) {
    return derive(seed, purpose::training, 0, key, i);
  };
  auto values = resampled(examples, samples, stream, std::move(measure));
  if (!std::ranges::all_of(values, [](double v) { return std::isfinite(v); }))
    return std::nullopt;
  std::ranges::sort(values);
  const auto passed = static_cast<std::size_t>(outside * static_cast<double>(samples));
  const double low = values[passed], high = values[samples - 1 - passed];
  if (low == high)
    return std::nullopt;
  return metric_interval{.metric = std::string(metric),
                         .low = low,
                         .high = high,
                         .resamples = static_cast<std::uint32_t>(samples)};
}

} // namespace

double sampling_error(const learning_task& task, std::string_view metric,
                      const class_predictions& p) {
  const auto examples = p.labels.size();
  if (examples < 2)
    return 0;
  if (is_share(metric))
    return binomial_error(measure(task, metric, p), static_cast<double>(examples));
  return bootstrap_error(examples, p.classes, measured_by(task, metric, p));
}

double sampling_error(const learning_task& task, std::string_view metric,
                      const value_predictions& p) {
  const auto examples = p.actual.size();
  return examples < 2 ? 0 : bootstrap_error(examples, 2, measured_by(task, metric, p));
}

double sampling_error(const learning_task& task, std::string_view metric,
                      const several_predictions& p) {
  return p.examples() < 2
             ? 0
             : bootstrap_error(p.examples(), 2 * p.targets, measured_by(task, metric, p));
}

double difference_error(const learning_task& task, std::string_view metric,
                        const class_predictions& a, const class_predictions& b) {
  return paired_error(metric, a.labels.size(), a.classes, measured_by(task, metric, a),
                      measured_by(task, metric, b));
}

double difference_error(const learning_task& task, std::string_view metric,
                        const value_predictions& a, const value_predictions& b) {
  return paired_error(metric, a.actual.size(), 2, measured_by(task, metric, a),
                      measured_by(task, metric, b));
}

double difference_error(const learning_task& task, std::string_view metric,
                        const several_predictions& a, const several_predictions& b) {
  return paired_error(metric, a.examples(), 2 * a.targets, measured_by(task, metric, a),
                      measured_by(task, metric, b));
}

std::optional<metric_interval> bootstrap_interval(const learning_task& task,
                                                  std::string_view metric,
                                                  const class_predictions& p,
                                                  std::uint64_t seed) {
  const auto cost = p.classes * (metric == "auc" ? cost_of_sorting : 1);
  return interval_of(metric, p.labels.size(), cost, seed, measured_by(task, metric, p));
}

std::optional<metric_interval> bootstrap_interval(const learning_task& task,
                                                  std::string_view metric,
                                                  const value_predictions& p,
                                                  std::uint64_t seed) {
  return interval_of(metric, p.actual.size(), 2, seed, measured_by(task, metric, p));
}

std::optional<metric_interval> bootstrap_interval(const learning_task& task,
                                                  std::string_view metric,
                                                  const several_predictions& p,
                                                  std::uint64_t seed) {
  const auto cost = 2 * p.targets * (metric == "auc" ? cost_of_sorting : 1);
  return interval_of(metric, p.examples(), cost, seed, measured_by(task, metric, p));
}

} // namespace clade
