#include "engine/training/metrics/several_metrics.hpp"

#include "engine/training/metrics/class_metrics.hpp"

#include <algorithm>
#include <cmath>

namespace clade {
namespace {

struct counts_of_labels {
  double both = 0, actual = 0, predicted = 0;

  void add(double truth, double log_odds) {
    const bool has = truth > 0.5, said = log_odds >= 0;
    both += has && said ? 1 : 0;
    actual += has ? 1 : 0;
    predicted += said ? 1 : 0;
  }
  [[nodiscard]] double f1() const {
    return actual + predicted > 0 ? 2 * both / (actual + predicted) : 1;
  }
};

bool is_right(double truth, double log_odds) {
  return (truth > 0.5) == (log_odds >= 0);
}

double area_of(const target_column& label) {
  std::vector<std::uint8_t> positive;
  for (const double truth : label.actual)
    positive.push_back(truth > 0.5 ? 1 : 0);
  return area_under_curve(label.predicted, positive);
}

template<class Of>
double mean_of_outputs(const several_predictions& p, Of of) {
  double sum = 0;
  for (std::size_t output = 0; output < p.targets; ++output)
    sum += of(output);
  return sum / static_cast<double>(p.targets);
}

} // namespace

target_column column_of(const several_predictions& p, std::size_t target) {
  target_column out;
  for (std::size_t i = target; i < p.actual.size(); i += p.targets) {
    out.actual.push_back(p.actual[i]);
    out.predicted.push_back(p.predicted[i]);
  }
  return out;
}

double f1_micro(const several_predictions& p) {
  counts_of_labels all;
  for (std::size_t i = 0; i < p.actual.size(); ++i)
    all.add(p.actual[i], p.predicted[i]);
  return all.f1();
}

double f1_of_label(const several_predictions& p, std::size_t label) {
  counts_of_labels own;
  for (std::size_t i = label; i < p.actual.size(); i += p.targets)
    own.add(p.actual[i], p.predicted[i]);
  return own.f1();
}

double f1_of_labels(const several_predictions& p) {
  return mean_of_outputs(p, [&](std::size_t label) { return f1_of_label(p, label); });
}

double label_accuracy(const several_predictions& p) {
  double right = 0;
  for (std::size_t i = 0; i < p.actual.size(); ++i)
    right += is_right(p.actual[i], p.predicted[i]) ? 1 : 0;
  return p.actual.empty() ? 0 : right / static_cast<double>(p.actual.size());
}

double exact_match(const several_predictions& p) {
  double right = 0;
  for (std::size_t i = 0; i < p.actual.size(); i += p.targets) {
    bool all = true;
    for (std::size_t k = i; k < i + p.targets; ++k)
      all = all && is_right(p.actual[k], p.predicted[k]);
    right += all ? 1 : 0;
  }
  return p.actual.empty() ? 0 : right / static_cast<double>(p.examples());
}

double auc_of_label(const several_predictions& p, std::size_t label) {
  return area_of(column_of(p, label));
}

double auc_of_labels(const several_predictions& p) {
  double sum = 0, seen = 0;
  for (std::size_t label = 0; label < p.targets; ++label) {
    const auto column = column_of(p, label);
    const auto [least, most] = std::ranges::minmax_element(column.actual);
    if (least == column.actual.end() || *least == *most)
      continue;
    sum += area_of(column);
    ++seen;
  }
  return seen > 0 ? sum / seen : 0.5;
}

double pinball_of(const several_predictions& p, std::size_t quantile) {
  const double q = scale_of(p.scales, quantile).quantile;
  double sum = 0;
  for (std::size_t i = quantile; i < p.actual.size(); i += p.targets)
    sum += pinball_loss(p.actual[i] - p.predicted[i], q);
  return p.actual.empty() ? 0 : sum / static_cast<double>(p.examples());
}

double pinball(const several_predictions& p) {
  return mean_of_outputs(p,
                         [&](std::size_t quantile) { return pinball_of(p, quantile); });
}

double share_below(const several_predictions& p, std::size_t quantile) {
  double below = 0;
  for (std::size_t i = quantile; i < p.actual.size(); i += p.targets)
    below += p.actual[i] <= p.predicted[i] ? 1 : 0;
  return p.actual.empty() ? 0 : below / static_cast<double>(p.examples());
}

double label_loss(const several_predictions& p) {
  double sum = 0;
  for (std::size_t i = 0; i < p.actual.size(); ++i) {
    const double wrong = p.actual[i] > 0.5 ? -p.predicted[i] : p.predicted[i];
    sum += std::max(wrong, 0.0) + std::log1p(std::exp(-std::abs(wrong)));
  }
  return p.actual.empty() ? 0 : sum / static_cast<double>(p.actual.size());
}

} // namespace clade
