#include "engine/training/loop/part_sums.hpp"

#include "engine/training/network/loss.hpp"

#include <ATen/ATen.h>

#include <cmath>

namespace clade {
namespace {

struct target_errors {
  double mse = 0, r2 = 0;
};

/// Squares and their sum around the mean are of standardised values, the error is not.
target_errors errors_of(double squares, double spread, double examples,
                        double deviation) {
  return {.mse = squares / examples * deviation * deviation,
          .r2 = spread > 0     ? 1 - squares / spread
                : squares == 0 ? 1.0
                               : 0.0};
}

/// The means over the targets.
std::vector<metric> metrics_of(const metric& loss,
                               const std::vector<target_errors>& all) {
  double mse = 0, r2 = 0, rmse = 0;
  for (const auto& one : all) {
    mse += one.mse;
    r2 += one.r2;
    rmse += std::sqrt(one.mse);
  }
  const auto n = static_cast<double>(all.size());
  return {loss, {"mse", mse / n}, {"r2", r2 / n}, {"rmse", rmse / n}};
}

} // namespace

part_sums::part_sums(const device_data& data)
    : data_(data),
      loss_(at::zeros({}, data.features.options().dtype(at::kDouble))),
      squares_(at::zeros_like(loss_)),
      correct_(at::zeros({}, data.features.options().dtype(at::kLong))),
      counts_(at::zeros({3}, correct_.options())) {}

bool part_sums::give(const learning_task& task, std::string_view name) {
  return name == "loss"
         || (task.has_classes()     ? name == "accuracy"
             : task.has_quantiles() ? name == "pinball"
             : task.has_labels()    ? name == "accuracy" || name == "f1_micro"
                                    : name == "mse" || name == "r2" || name == "rmse");
}

void part_sums::add(const at::Tensor& said, const at::Tensor& targets) {
  const auto predictions = as_predicted(data_, said);
  const auto lost =
      loss_of(data_.task.loss, predictions, targets,
              {.reduction = at::Reduction::Sum, .quantiles = data_.quantiles});
  loss_.add_(lost);
  if (data_.task.has_quantiles())
    return;
  if (data_.task.has_classes())
    correct_.add_(predictions.argmax(1).eq(targets).sum());
  else if (data_.task.has_labels())
    add_labels(predictions.ge(0), targets.gt(0.5));
  else if (has_several(data_))
    squares_ = squares_ + (predictions - targets).to(at::kDouble).square().sum(0);
  else
    squares_.add_(data_.task.loss == loss_kind::squared_error
                      ? lost
                      : at::mse_loss(predictions, targets, at::Reduction::Sum));
}

std::vector<metric> part_sums::metrics(const at::Tensor& part) const {
  const auto examples = static_cast<double>(part.size(0));
  const auto each = has_several(data_) ? static_cast<double>(data_.classes.size()) : 1;
  const metric loss{"loss", loss_.item<double>() / (examples * each)};
  if (data_.task.has_quantiles())
    return {loss, {"pinball", loss.value * scale_of(data_.target_scales, 0).deviation}};
  const auto correct = [&] {
    return static_cast<double>(correct_.item<std::int64_t>()) / (examples * each);
  };
  if (data_.task.has_classes())
    return {{"accuracy", correct()}, loss};
  if (data_.task.has_labels())
    return {{"accuracy", correct()}, {"f1_micro", f1()}, loss};
  const auto targets = data_.targets.index_select(0, part).to(at::kDouble);
  if (!has_several(data_)) {
    const auto spread = (targets - targets.mean()).square().sum().item<double>();
    return metrics_of(loss, {errors_of(squares_.item<double>(), spread, examples,
                                       scale_of(data_.target_scales, 0).deviation)});
  }
  const auto spreads = (targets - targets.mean(0)).square().sum(0).cpu();
  const auto squares = squares_.cpu();
  std::vector<target_errors> all;
  for (std::int64_t t = 0; t < squares.numel(); ++t) {
    const auto& scale = scale_of(data_.target_scales, static_cast<std::size_t>(t));
    all.push_back(errors_of(squares[t].item<double>(), spreads[t].item<double>(),
                            examples, scale.deviation));
  }
  return metrics_of(loss, all);
}

void part_sums::add_labels(const at::Tensor& said, const at::Tensor& has) {
  correct_.add_(said.eq(has).sum());
  counts_.add_(at::stack({said.logical_and(has).sum(), said.sum(), has.sum()}));
}

double part_sums::f1() const {
  const auto counts = counts_.cpu();
  const auto at = [&](std::int64_t i) {
    return static_cast<double>(counts[i].item<std::int64_t>());
  };
  return at(1) + at(2) > 0 ? 2 * at(0) / (at(1) + at(2)) : 1;
}

} // namespace clade
