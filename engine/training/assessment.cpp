#include "engine/training/assessment.hpp"

#include "engine/training/sampling_error.hpp"

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <cmath>
#include <limits>

// The usual metrics are summed on the device, batch by batch; what takes all predictions
// at once is computed in double precision on the host, by functions without LibTorch.

namespace clade {
namespace {

constexpr std::int64_t assessment_batch = 256;

std::vector<metric> class_metrics(const std::string& prefix, double loss, double correct,
                                  double examples) {
  return {{prefix + "accuracy", correct / examples}, {prefix + "loss", loss / examples}};
}

// `spread` is the sum of squared distances of the targets from their mean.
std::vector<metric> number_metrics(const std::string& prefix, double squares,
                                   double spread, double examples, double deviation) {
  const double loss = squares / examples;
  const double mse = loss * deviation * deviation;
  const double r2 = spread > 0 ? 1 - squares / spread : squares == 0 ? 1.0 : 0.0;
  return {{prefix + "loss", loss},
          {prefix + "mse", mse},
          {prefix + "r2", r2},
          {prefix + "rmse", std::sqrt(mse)}};
}

/// What a model says of a part, on the host.
class part_predictions {
public:
  /// `predictions` [examples, outputs] are of `part`.
  part_predictions(const device_data& data, const at::Tensor& part,
                   const at::Tensor& predictions)
      : data_(data),
        outputs_(static_cast<std::size_t>(predictions.size(1))) {
    const auto targets = data.targets.index_select(0, part).cpu().contiguous();
    const auto said = predictions.cpu().contiguous();
    scores_.assign(said.const_data_ptr<float>(),
                   said.const_data_ptr<float>() + said.numel());
    finite_ = std::ranges::all_of(scores_, [](float s) { return std::isfinite(s); });
    if (data.task == task_kind::classification)
      labels_.assign(targets.const_data_ptr<std::int64_t>(),
                     targets.const_data_ptr<std::int64_t>() + targets.numel());
    else
      for (std::int64_t i = 0; i < targets.numel(); ++i) {
        actual_.push_back(in_own_unit(targets.const_data_ptr<float>()[i]));
        predicted_.push_back(in_own_unit(scores_[static_cast<std::size_t>(i)]));
      }
  }

  [[nodiscard]] bool finite() const { return finite_; }
  [[nodiscard]] class_predictions classes() const { return {outputs_, labels_, scores_}; }
  [[nodiscard]] value_predictions values() const { return {actual_, predicted_}; }

  /// NaN where a prediction is no finite number.
  [[nodiscard]] double measure(std::string_view name) const {
    if (!finite_)
      return std::numeric_limits<double>::quiet_NaN();
    return data_.task == task_kind::classification
               ? clade::measure(name, classes(), data_.classes)
               : clade::measure(name, values(), data_.target_deviation);
  }

  [[nodiscard]] double sampling_error(std::string_view name) const {
    if (!finite_)
      return 0;
    return data_.task == task_kind::classification
               ? clade::sampling_error(name, classes(), data_.classes)
               : clade::sampling_error(name, values(), data_.target_deviation);
  }

private:
  double in_own_unit(double standardised) const {
    return standardised * data_.target_deviation + data_.target_mean;
  }

  const device_data& data_;
  std::size_t outputs_;
  bool finite_ = true;
  std::vector<float> scores_;
  std::vector<std::int64_t> labels_;
  std::vector<double> actual_, predicted_;
};

part_predictions predictions_of(const model& predict, const device_data& data,
                                const at::Tensor& part) {
  const c10::InferenceMode inference;
  std::vector<at::Tensor> all;
  for (std::int64_t from = 0; from < part.size(0); from += assessment_batch)
    all.push_back(predict(data.features.index_select(
        0, part.narrow(0, from, std::min(assessment_batch, part.size(0) - from)))));
  return {data, part, at::cat(all)};
}

void add_confusion(const part_predictions& test, const device_data& data,
                   test_details& to) {
  if (data.classes.size() > test_details::most_classes)
    return;
  to.classes = data.classes;
  to.confusion = confusion_of(test.classes()).counts;
}

void add_pairs(const part_predictions& test, test_details& to) {
  const auto [actual, predicted] = test.values();
  const auto count = std::min(actual.size(), test_details::most_pairs);
  for (std::size_t j = 0; j < count; ++j) {
    const auto i = j * actual.size() / count;
    to.pairs.push_back({actual[i], predicted[i]});
  }
}

error_quantiles errors_of(const part_predictions& part) {
  const auto [actual, predicted] = part.values();
  std::vector<double> errors;
  for (std::size_t i = 0; i < actual.size(); ++i)
    errors.push_back(std::abs(actual[i] - predicted[i]));
  return error_quantiles::of(std::move(errors));
}

/// That some number of classes makes sure of says nothing.
bool says_something(std::string_view name, const device_data& data) {
  return !(name == "top_3" && data.classes.size() <= 3)
         && !(name == "top_5" && data.classes.size() <= 5);
}

} // namespace

std::vector<metric> assess(const model& predict, const device_data& data,
                           const at::Tensor& part, std::string_view prefix,
                           std::span<const std::string> also) {
  const c10::InferenceMode inference;
  const bool classes = data.task == task_kind::classification;
  auto loss = at::zeros({}, data.features.options().dtype(at::kDouble));
  auto correct = at::zeros({}, data.features.options().dtype(at::kLong));
  std::vector<at::Tensor> kept;
  for (std::int64_t from = 0; from < part.size(0); from += assessment_batch) {
    const auto indices =
        part.narrow(0, from, std::min(assessment_batch, part.size(0) - from));
    const auto predictions = predict(data.features.index_select(0, indices));
    const auto targets = data.targets.index_select(0, indices);
    if (classes) {
      loss.add_(at::cross_entropy_loss(predictions, targets, {}, at::Reduction::Sum));
      correct.add_(predictions.argmax(1).eq(targets).sum());
    } else {
      loss.add_(at::mse_loss(predictions, targets, at::Reduction::Sum));
    }
    if (!also.empty())
      kept.push_back(predictions);
  }
  const auto examples = static_cast<double>(part.size(0));
  const std::string before(prefix);
  std::vector<metric> metrics;
  if (classes) {
    metrics = class_metrics(before, loss.item<double>(),
                            static_cast<double>(correct.item<std::int64_t>()), examples);
  } else {
    const auto targets = data.targets.index_select(0, part).to(at::kDouble);
    const auto spread = (targets - targets.mean()).square().sum().item<double>();
    metrics = number_metrics(before, loss.item<double>(), spread, examples,
                             data.target_deviation);
  }
  if (kept.empty())
    return metrics;
  const part_predictions all(data, part, at::cat(kept));
  for (const auto& name : also)
    if (!find(metrics, before + name))
      metrics.push_back({before + name, all.measure(name)});
  std::ranges::sort(metrics, {}, &metric::name);
  return metrics;
}

test_details details_of(const model& predict, const device_data& data,
                        std::string_view judged_by) {
  constexpr std::string_view validation_part = "validation.";
  const auto size = [](const at::Tensor& part) {
    return static_cast<std::uint64_t>(part.size(0));
  };
  test_details out{.train = size(data.train),
                   .validation = size(data.validation),
                   .test = size(data.test)};
  const auto test = predictions_of(predict, data, data.test);
  const auto validation = predictions_of(predict, data, data.validation);
  for (const auto& m : all_part_metrics(data.task))
    if (const double value = test.measure(m.name);
        std::isfinite(value) && says_something(m.name, data))
      out.metrics.push_back({"test." + std::string(m.name), value});
  std::ranges::sort(out.metrics, {}, &metric::name);
  if (judged_by.starts_with(validation_part)) {
    const double error =
        validation.sampling_error(judged_by.substr(validation_part.size()));
    out.standard_error = std::isfinite(error) ? error : 0;
  }
  if (!test.finite() || !validation.finite())
    return out;
  if (data.task == task_kind::classification) {
    add_confusion(test, data, out);
  } else {
    add_pairs(test, out);
    out.validation_errors = errors_of(validation);
  }
  return out;
}

} // namespace clade
