#pragma once

#include "engine/search/core/candidate.hpp"
#include "genome/codec/codec.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace clade {

/// A regression's true and predicted value of an example, in the target's own unit.
struct value_pair {
  double actual = 0, predicted = 0;

  friend bool operator==(const value_pair&, const value_pair&) = default;
};

/// How far forecasts were off that look so many steps ahead.
struct quantiles_ahead {
  std::uint32_t last = 0; ///< Steps from the one behind those before it to this one.
  std::uint64_t examples = 0;
  std::vector<double> values; ///< They mean the same as in `error_quantiles`.

  friend bool operator==(const quantiles_ahead&, const quantiles_ahead&) = default;
};

/// How far predictions of one of several targets were off.
struct quantiles_of_target {
  std::uint64_t examples = 0;
  std::vector<double> values; ///< They mean the same as in `error_quantiles`.

  friend bool operator==(const quantiles_of_target&,
                         const quantiles_of_target&) = default;
};

/// How far predictions were off on examples that no weight was fitted to, as a few order
/// statistics: value j of m, from 1, is that of rank ceil(j n / m) among n absolute
/// errors in ascending order. The last is the largest.
struct error_quantiles {
  std::uint64_t examples = 0;
  std::vector<double> values;
  /// Errors of forecasts, by how many steps they look ahead, the nearest first. None where
  /// nothing is forecast, of few examples, and in runs that older versions recorded.
  std::optional<std::vector<quantiles_ahead>> ahead{};
  /// Errors of several targets, each in its own unit; the others are of a single one.
  std::optional<std::vector<quantiles_of_target>> targets{};

  /// Makes the quantiles of all errors; `errors` are in any order. At most 500 values are
  /// kept.
  [[nodiscard]] static error_quantiles of(std::vector<double> errors);
  /// Does the same of forecasts by how many steps each looks ahead; steps of few examples
  /// are taken together with those behind them.
  [[nodiscard]] static error_quantiles of(const std::vector<double>& errors,
                                          std::span<const std::uint32_t> ahead);

  /// Does the same of several targets; `errors` are [examples, targets].
  [[nodiscard]] static error_quantiles of_targets(std::span<const double> errors,
                                                  std::size_t targets);

  [[nodiscard]] bool known() const { return targets || !values.empty(); }

  /// Returns how large the error of a new example is at most, with at least that
  /// probability, `level` in (0, 1): the one of rank ceil((n + 1) level) among n, rounded
  /// up to a kept one. A forecast looks `steps` ahead; others look 0. None: n is too small.
  [[nodiscard]] std::optional<double> reach(double level, std::uint32_t steps = 0) const;
  /// Returns the same of one of several targets, which there is.
  [[nodiscard]] std::optional<double> reach_of_target(double level,
                                                      std::size_t target) const;

  friend bool operator==(const error_quantiles&, const error_quantiles&) = default;
};

/// The 95 % interval of a metric, by percentiles of the bootstrap (Efron, 1979): in so many
/// resamples of the examples, drawn with replacement, all but the lowest and the highest
/// 2.5 % of the metric's values are in it.
struct metric_interval {
  std::string metric; ///< "test.accuracy"
  double low = 0, high = 0;
  std::uint32_t resamples = 0;

  friend bool operator==(const metric_interval&, const metric_interval&) = default;
};

/// An example of one class that was taken for another one.
struct misclassified {
  std::uint64_t place = 0; ///< The place as in `test_evidence`, also below.
  std::string actual, predicted;
  double actual_probability = 0, predicted_probability = 0;
  /// The example's file below the data's folder, where examples are files.
  std::optional<std::string> file{};
  /// By how much the probability of `predicted` falls if a part of the image is covered: by
  /// cell of a square grid, row after row. None of what is no image, if there was no time
  /// for it, and but of the final model.
  std::optional<std::vector<double>> occlusion{};

  static constexpr std::size_t most_cells = 32 * 32;

  friend bool operator==(const misclassified&, const misclassified&) = default;
};

/// A regression's value for an example that it missed, in the target's own unit.
struct missed_value {
  std::uint64_t place = 0;
  double actual = 0, predicted = 0;

  friend bool operator==(const missed_value&, const missed_value&) = default;
};

/// How far the test of a network can be trusted, and where it failed.
struct test_evidence {
  /// The interval of the objective's metric; none if all resamples agree, since nothing
  /// follows from them then, and if the objective is no metric of a part of the data.
  std::optional<metric_interval> interval;
  /// A place is the line of an example in the file, from 1; else its index, from 0.
  bool by_line = false;
  /// The test examples with the highest loss among those that were predicted wrongly, the
  /// highest first: of a classification and of a regression.
  std::vector<misclassified> classes;
  std::vector<missed_value> values;

  static constexpr std::size_t most_wrong_examples = 10;

  friend bool operator==(const test_evidence&, const test_evidence&) = default;
};

/// How right a classifier is where it is so sure: of the examples whose predicted class
/// has a probability in one tenth of [0, 1].
struct reliability_bin {
  std::uint64_t examples = 0;
  double said = 0;  ///< The mean probability of the predicted class.
  double right = 0; ///< The share whose class that is.

  friend bool operator==(const reliability_bin&, const reliability_bin&) = default;
};

/// The curve of reliability on the test part, by tenths of the probability, the lowest
/// first, without the empty ones; and the expected calibration error: the mean distance of
/// what was said and what was right, over examples (Guo et al., "On calibration of modern
/// neural networks", ICML 2017).
struct reliability {
  std::vector<reliability_bin> bins;
  double error = 0;

  friend bool operator==(const reliability&, const reliability&) = default;
};

/// By how much a model is worse if the values of a column are dealt anew among examples.
struct column_importance {
  std::string column; ///< Its name, or its number from 1 where it has none.
  double worse = 0;   ///< The mean over all times; below 0 if the model was better then.
  double low = 0, high = 0; ///< The 95 % interval of that mean, by Student's t.

  friend bool operator==(const column_importance&, const column_importance&) = default;
};

/// The permutation importance of columns (Breiman, "Random forests", Machine Learning
/// 2001; of any model: Fisher et al., JMLR 2019) on the validation part. A model that was
/// trained with some of its examples is asked of the others alone.
struct column_importances {
  std::string metric;         ///< "validation.accuracy": what gets worse.
  std::uint64_t examples = 0; ///< How many of the validation part are asked.
  std::uint32_t times = 0;    ///< How often the values of each column were dealt anew.
  std::vector<column_importance> columns; ///< The most important first.

  friend bool operator==(const column_importances&, const column_importances&) = default;
};

/// A step of a forecast.
struct forecast_point {
  std::uint32_t ahead = 0; ///< From 1.
  double actual = 0, predicted = 0;

  friend bool operator==(const forecast_point&, const forecast_point&) = default;
};

/// A forecast of the test part beside what came, in the unit of its series.
struct forecast_curve {
  std::vector<std::string> series; ///< The key of its series; empty: there is one.
  /// The times of the first value, of the last one before the forecast, and of its end.
  std::string from, origin, to;
  std::vector<std::optional<double>>
      past;                          ///< The values up to the origin; none is a gap.
  std::vector<forecast_point> steps; ///< Gaps are left out.
  double scale = 1;                  ///< An error of 1 in this unit.

  friend bool operator==(const forecast_curve&, const forecast_curve&) = default;
};

/// The ends of the interval of a step of a forecast, in the unit of its series.
struct forecast_interval {
  static constexpr double level = 0.9;
  double low = 0, high = 0;
};

/// None: too few errors are known.
[[nodiscard]] std::optional<forecast_interval> interval_of(const forecast_curve& of,
                                                           const forecast_point& step,
                                                           const error_quantiles& errors);

/// The details of a network's test beside its metrics, for people and for `clade
/// predict`. It is an observation: it decides nothing and does not enter the digest.
struct test_details {
  /// Examples in each part of the data.
  std::uint64_t train = 0, validation = 0, test = 0;
  /// All metrics of the test part ("test.auc"), sorted by name.
  std::vector<metric> metrics;
  /// The error of the objective's first metric on the validation part, from the sampling
  /// of its examples; 0: not known.
  double standard_error = 0;
  /// Classification, of at most `most_classes`: their names, and how many test examples
  /// of class i were taken for class j, at [i * classes + j].
  std::vector<std::string> classes;
  std::vector<std::uint64_t> confusion;
  /// Regression: at most `most_pairs` of the test part, evenly chosen in its order; of
  /// forecasts in the unit of their series.
  std::vector<value_pair> pairs;
  /// Regression: of the validation part.
  error_quantiles validation_errors;
  /// None of the linear model, and in runs of before there was such a thing.
  std::optional<test_evidence> evidence{};
  /// None of numbers, and in runs of before there was such a thing.
  std::optional<clade::reliability> reliability{};
  /// None but of the final model of a table, if there was time for it.
  std::optional<column_importances> columns{};
  /// Forecasts of some series; none of what is no forecast.
  std::optional<std::vector<forecast_curve>> forecasts{};

  static constexpr std::size_t most_classes = 100, most_pairs = 300;

  friend bool operator==(const test_details&, const test_details&) = default;
};

/// msgpack; grammar at the top of record.cpp.
void encode(encoder& out, const error_quantiles& q);
/// Reports through `d.finish()`.
[[nodiscard]] error_quantiles decode_error_quantiles(decoder& d);

} // namespace clade
