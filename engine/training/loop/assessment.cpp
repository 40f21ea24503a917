#include "engine/training/loop/assessment.hpp"

#include "engine/training/loop/part_sums.hpp"
#include "engine/training/metrics/reliability.hpp"
#include "engine/training/metrics/sampling_error.hpp"
#include "engine/training/metrics/wrong_examples.hpp"

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>

// The usual metrics are summed on the device (part_sums.hpp); what takes all predictions at
// once is computed in double precision on the host, by functions without LibTorch.

namespace clade {
namespace {

constexpr std::int64_t assessment_batch = 256;

// A batch of larger images, or of longer sequences, has activations that leave the
// processor's caches, and for which the allocator asks the system each time.
std::int64_t batch_for(const device_data& data) {
  const auto dimensions = data.features.dim();
  if (dimensions < 3)
    return assessment_batch;
  constexpr std::int64_t pixels = 1 << 16;
  const auto places = dimensions == 4 ? data.features.size(2) * data.features.size(3)
                                      : data.features.size(1);
  auto batch = assessment_batch;
  while (batch > 16 && batch * places > pixels)
    batch /= 2;
  return batch;
}

/// The predictions of a model for a part, on the host.
class part_predictions {
public:
  /// `predictions` [examples, outputs] are of `part`.
  part_predictions(const device_data& data, const at::Tensor& part,
                   const at::Tensor& predictions)
      : data_(data),
        outputs_(static_cast<std::size_t>(predictions.size(1))) {
    const auto targets = data.targets.index_select(0, part).cpu().contiguous();
    const auto said = as_predicted(data, predictions).cpu().contiguous();
    scores_.assign(said.const_data_ptr<float>(),
                   said.const_data_ptr<float>() + said.numel());
    finite_ = std::ranges::all_of(scores_, [](float s) { return std::isfinite(s); });
    if (data.task.has_classes())
      labels_.assign(targets.const_data_ptr<std::int64_t>(),
                     targets.const_data_ptr<std::int64_t>() + targets.numel());
    else
      for (std::int64_t i = 0; i < targets.numel(); ++i) {
        const auto at = static_cast<std::size_t>(i);
        actual_.push_back(decoded(targets.const_data_ptr<float>()[i], at % outputs_));
        predicted_.push_back(decoded(scores_[at], at % outputs_));
      }
    if (data.steps)
      take_steps(*data.steps, part);
  }

  [[nodiscard]] bool finite() const { return finite_; }
  [[nodiscard]] class_predictions classes() const {
    return {outputs_, labels_, scores_, data_.classes};
  }
  /// The values of one target.
  [[nodiscard]] value_predictions values() const {
    return {actual_, predicted_, data_.target_scales.front().deviation};
  }
  [[nodiscard]] several_predictions several() const {
    return {outputs_, actual_, predicted_, data_.target_scales, data_.classes};
  }
  /// Values, each in the unit of its series where it is a forecast.
  [[nodiscard]] value_predictions in_units() const {
    return data_.steps ? value_predictions{unit_actual_, unit_predicted_} : values();
  }
  /// By example how many steps it looks ahead; empty of what is no forecast.
  [[nodiscard]] std::span<const std::uint32_t> ahead() const { return ahead_; }
  /// The examples, by their index in the data.
  [[nodiscard]] std::span<const std::int64_t> examples() const { return examples_; }

  /// Calls it with the predictions of which that metric is measured.
  template<class Use>
  [[nodiscard]] auto with_kind(std::string_view metric, Use use) const {
    return data_.task.has_classes() ? use(classes())
           : has_several(data_)     ? use(several())
                                    : use(values(metric));
  }

  /// NaN where a prediction is no finite number.
  [[nodiscard]] double measure(std::string_view name) const {
    if (!finite_)
      return std::numeric_limits<double>::quiet_NaN();
    return with_kind(name,
                     [&](const auto& p) { return clade::measure(data_.task, name, p); });
  }

  [[nodiscard]] double sampling_error(std::string_view name) const {
    if (!finite_)
      return 0;
    return with_kind(
        name, [&](const auto& p) { return clade::sampling_error(data_.task, name, p); });
  }

  /// The standard error of the difference in a metric between these predictions and others
  /// of the same examples.
  [[nodiscard]] double difference_error(std::string_view name,
                                        const part_predictions& other) const {
    if (data_.task.has_classes())
      return clade::difference_error(data_.task, name, classes(), other.classes());
    return has_several(data_)
               ? clade::difference_error(data_.task, name, several(), other.several())
               : clade::difference_error(data_.task, name, values(name),
                                         other.values(name));
  }

  /// Returns the interval of finite predictions.
  [[nodiscard]] std::optional<metric_interval> interval(std::string_view name,
                                                        std::uint64_t seed) const {
    return with_kind(name, [&](const auto& p) {
      return bootstrap_interval(data_.task, name, p, seed);
    });
  }
  /// Returns what that metric is measured of: a share of a value is one of a value in its
  /// own unit.
  [[nodiscard]] value_predictions values(std::string_view metric) const {
    return is_of_shares(metric) ? in_units() : values();
  }

private:
  void take_steps(const forecast_steps& steps, const at::Tensor& part) {
    const auto which = part.cpu().contiguous();
    examples_.assign(which.const_data_ptr<std::int64_t>(),
                     which.const_data_ptr<std::int64_t>() + which.numel());
    for (std::size_t i = 0; i < examples_.size(); ++i) {
      const auto at = static_cast<std::size_t>(examples_[i]);
      const auto in_unit = [&](double v) {
        return steps.offset[at] + steps.scale[at] * v;
      };
      unit_actual_.push_back(in_unit(actual_[i]));
      unit_predicted_.push_back(in_unit(predicted_[i]));
      ahead_.push_back(steps.ahead[at]);
    }
  }
  double decoded(double standardised, std::size_t output) const {
    return data_.task.decoded(standardised, scale_of(data_.target_scales, output));
  }

  const device_data& data_;
  std::size_t outputs_;
  bool finite_ = true;
  std::vector<float> scores_;
  std::vector<std::int64_t> labels_;
  std::vector<double> actual_, predicted_;
  std::vector<double> unit_actual_, unit_predicted_;
  std::vector<std::uint32_t> ahead_;
  std::vector<std::int64_t> examples_;
};

part_predictions predictions_of(const model& predict, const device_data& data,
                                const at::Tensor& part) {
  return {data, part, outputs_of(predict, data, part)};
}

void add_confusion(const part_predictions& test, const device_data& data,
                   test_details& to) {
  if (data.classes.size() > test_details::most_classes)
    return;
  to.classes = data.classes;
  to.confusion = confusion_of(test.classes()).counts;
}

void add_pairs(const part_predictions& test, test_details& to) {
  const auto p = test.in_units();
  const auto count = std::min(p.actual.size(), test_details::most_pairs);
  for (std::size_t j = 0; j < count; ++j) {
    const auto i = j * p.actual.size() / count;
    to.pairs.push_back({p.actual[i], p.predicted[i]});
  }
}

/// How far predictions are off, of a single number or of several.
std::vector<double> absolute_errors(const auto& p) {
  std::vector<double> errors;
  for (std::size_t i = 0; i < p.actual.size(); ++i)
    errors.push_back(std::abs(p.actual[i] - p.predicted[i]));
  return errors;
}

error_quantiles errors_of(const part_predictions& part) {
  auto errors = absolute_errors(part.values());
  return part.ahead().empty() ? error_quantiles::of(std::move(errors))
                              : error_quantiles::of(errors, part.ahead());
}

error_quantiles errors_of_targets(const part_predictions& part) {
  const auto p = part.several();
  return error_quantiles::of_targets(absolute_errors(p), p.targets);
}

/// The forecasts that are drawn, as far as the test part has them.
std::vector<forecast_curve> curves_of(const part_predictions& test,
                                      const forecast_steps& steps) {
  std::map<std::int64_t, std::size_t> places;
  for (std::size_t i = 0; i < test.examples().size(); ++i)
    places.emplace(test.examples()[i], i);
  const auto p = test.in_units();
  std::vector<forecast_curve> out;
  for (const auto& drawn : steps.drawn) {
    forecast_curve one{.series = drawn.series,
                       .from = drawn.from,
                       .origin = drawn.origin,
                       .to = drawn.to,
                       .scale = steps.scale[drawn.first]};
    for (const double v : drawn.past)
      one.past.push_back(std::isfinite(v) ? std::optional(v) : std::nullopt);
    for (std::uint32_t i = drawn.first; i < drawn.first + drawn.count; ++i)
      if (const auto at = places.find(i); at != places.end())
        one.steps.push_back({.ahead = steps.ahead[i],
                             .actual = p.actual[at->second],
                             .predicted = p.predicted[at->second]});
    if (!one.steps.empty())
      out.push_back(std::move(one));
  }
  return out;
}

test_evidence evidence_of(const part_predictions& test, const device_data& data,
                          std::string_view judged, std::uint64_t seed) {
  test_evidence out{.by_line = data.by_line};
  if (!judged.empty())
    out.interval = test.interval(judged, seed);
  if (out.interval)
    out.interval->metric = "test." + std::string(judged);
  if (data.task.has_classes())
    out.classes = most_wrong(test.classes(), data.test_places, data.test_names);
  else if (!has_several(data))
    out.values = most_wrong(test.values(), data.test_places, test.in_units());
  return out;
}

/// That some number of classes makes sure of says nothing.
bool says_something(std::string_view name, const device_data& data) {
  return !(name == "top_3" && data.classes.size() <= 3)
         && !(name == "top_5" && data.classes.size() <= 5);
}

test_details details_of(const part_predictions& test, const part_predictions& validation,
                        const device_data& data) {
  const auto size = [](const at::Tensor& part) {
    return static_cast<std::uint64_t>(part.size(0));
  };
  test_details out{.train = size(data.train),
                   .validation = size(data.validation),
                   .test = size(data.test)};
  for (const auto& m : all_part_metrics(data.task))
    if (const double value = test.measure(m.name);
        std::isfinite(value) && says_something(m.name, data))
      out.metrics.push_back({"test." + std::string(m.name), value});
  if (has_several(data) && data.classes.size() <= test_details::most_classes)
    for (const auto& name : data.classes)
      for (const auto metric : metrics_of_each(data.task)) {
        const auto of_one = fmt::format("{}.{}", metric, name);
        if (const double value = test.measure(of_one); std::isfinite(value))
          out.metrics.push_back({"test." + of_one, value});
      }
  // Forecasts are measured in errors of the seasonal naive one.
  if (data.steps && test.finite())
    out.metrics.push_back({"test.mase", test.measure("mae")});
  std::ranges::sort(out.metrics, {}, &metric::name);
  if (!test.finite() || !validation.finite())
    return out;
  if (data.task.has_classes()) {
    add_confusion(test, data, out);
    if (!test.classes().labels.empty())
      out.reliability = reliability_of(test.classes());
  } else if (!has_several(data)) {
    add_pairs(test, out);
    out.validation_errors = errors_of(validation);
    if (data.steps)
      out.forecasts = curves_of(test, *data.steps);
  } else if (data.task == regression
             && data.classes.size() <= test_details::most_classes) {
    out.validation_errors = errors_of_targets(validation);
  }
  return out;
}

} // namespace

at::Tensor outputs_of(const model& predict, const device_data& data,
                      const at::Tensor& part) {
  const c10::InferenceMode inference;
  const auto batch = batch_for(data);
  std::vector<at::Tensor> all;
  for (std::int64_t from = 0; from < part.size(0); from += batch)
    all.push_back(predict(
        data.features.rows(part.narrow(0, from, std::min(batch, part.size(0) - from)))));
  return at::cat(all);
}

std::vector<metric> assess(const model& predict, const device_data& data,
                           const at::Tensor& part, std::string_view prefix,
                           std::span<const std::string> also) {
  const c10::InferenceMode inference;
  std::set<std::string> names(data.task.metrics.begin(), data.task.metrics.end());
  names.insert(also.begin(), also.end());
  const bool summed = std::ranges::all_of(
      names, [&](const auto& name) { return part_sums::give(data.task, name); });
  part_sums sums(data);
  const auto batch = batch_for(data);
  std::vector<at::Tensor> kept;
  for (std::int64_t from = 0; from < part.size(0); from += batch) {
    const auto indices = part.narrow(0, from, std::min(batch, part.size(0) - from));
    const auto predictions = predict(data.features.rows(indices));
    sums.add(predictions, data.targets.index_select(0, indices));
    if (!summed)
      kept.push_back(predictions);
  }
  const auto known = sums.metrics(part);
  std::optional<part_predictions> all;
  if (!summed)
    all.emplace(data, part, at::cat(kept));
  std::vector<metric> metrics;
  for (const auto& name : names) {
    const auto value = find(known, name);
    metrics.push_back({std::string(prefix) + name, value ? *value : all->measure(name)});
  }
  return metrics;
}

double difference_error(const device_data& data, const at::Tensor& part,
                        const at::Tensor& a, const at::Tensor& b,
                        std::string_view metric) {
  return part_predictions(data, part, a)
      .difference_error(metric, part_predictions(data, part, b));
}

double latency_milliseconds(const model& predict, const device_data& data) {
  using steady_clock = std::chrono::steady_clock;
  constexpr int warming = 3, measured = 15;
  const c10::InferenceMode inference;
  const auto example = data.features.rows(data.train.narrow(0, 0, 1));
  std::vector<double> times;
  for (int i = 0; i < warming + measured; ++i) {
    const auto start = steady_clock::now();
    static_cast<void>(predict(example).cpu());
    const std::chrono::duration<double, std::milli> took = steady_clock::now() - start;
    if (i >= warming)
      times.push_back(took.count());
  }
  std::ranges::nth_element(times, times.begin() + measured / 2);
  return times[measured / 2];
}

test_details details_of(const model& predict, const device_data& data) {
  return details_of(predictions_of(predict, data, data.test),
                    predictions_of(predict, data, data.validation), data);
}

test_details details_of(const model& predict, const device_data& data,
                        std::string_view judged_by, std::uint64_t seed) {
  constexpr std::string_view validation_part = "validation.";
  const auto test = predictions_of(predict, data, data.test);
  const auto validation = predictions_of(predict, data, data.validation);
  auto out = details_of(test, validation, data);
  const auto judged = judged_by.starts_with(validation_part)
                          ? judged_by.substr(validation_part.size())
                          : std::string_view();
  if (!judged.empty()) {
    const double error = validation.sampling_error(judged);
    out.standard_error = std::isfinite(error) ? error : 0;
  }
  if (test.finite())
    out.evidence = evidence_of(test, data, judged, seed);
  return out;
}

} // namespace clade
