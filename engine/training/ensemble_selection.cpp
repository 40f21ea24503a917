#include "engine/training/ensemble_selection.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace clade {

namespace {

constexpr double least_probability = 1e-12;

double loss_of_sum(std::span<const double> sum, std::span<const double> more,
                   double count, loss_kind kind) {
  double total = 0;
  for (std::size_t i = 0; i < sum.size(); ++i) {
    const double mean = (sum[i] + more[i]) / count;
    total += kind == loss_kind::cross_entropy
                 ? -std::log(std::max(mean, least_probability))
                 : mean * mean;
  }
  return total / static_cast<double>(std::max<std::size_t>(1, sum.size()));
}

double likelihood_loss(std::span<const float> probabilities,
                       std::span<const std::int64_t> labels, double temperature) {
  const auto classes = probabilities.size() / labels.size();
  double total = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const auto row = probabilities.subspan(i * classes, classes);
    double sum = 0;
    for (const double p : row)
      sum += std::pow(std::max(p, least_probability), 1 / temperature);
    const double own = row[static_cast<std::size_t>(labels[i])];
    total += std::log(sum) - std::log(std::max(own, least_probability)) / temperature;
  }
  return total / static_cast<double>(labels.size());
}

} // namespace

std::vector<std::uint32_t> select_ensemble(std::span<const validation_answers> models,
                                           loss_kind kind, std::uint32_t rounds) {
  std::vector<std::uint32_t> chosen(models.size(), 0), best(models.size(), 0);
  if (models.empty())
    return best;
  std::vector<double> sum(models.front().size(), 0);
  double lowest = std::numeric_limits<double>::infinity();
  for (std::uint32_t round = 1; round <= rounds; ++round) {
    std::size_t next = 0;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t m = 0; m < models.size(); ++m)
      if (const double loss = loss_of_sum(sum, models[m], round, kind); loss < least) {
        least = loss;
        next = m;
      }
    if (!std::isfinite(least))
      break;
    ++chosen[next];
    for (std::size_t i = 0; i < sum.size(); ++i)
      sum[i] += models[next][i];
    // Sums of equal numbers differ in their last bits.
    if (round == 1 || least < lowest - 1e-9 * std::abs(lowest)) {
      lowest = least;
      best = chosen;
    }
  }
  return best;
}

// The loss is convex in 1 / temperature: golden sections find its one minimum.
double fit_temperature(std::span<const float> probabilities,
                       std::span<const std::int64_t> labels) {
  if (labels.empty())
    return 1;
  constexpr double section = 0.6180339887498949;
  double low = 0.2, high = 5;
  const auto loss = [&](double inverse) {
    return likelihood_loss(probabilities, labels, 1 / inverse);
  };
  double a = high - section * (high - low), b = low + section * (high - low);
  double at_a = loss(a), at_b = loss(b);
  for (int i = 0; i < 40; ++i) {
    if (at_a < at_b) {
      high = b;
      b = a;
      at_b = at_a;
      a = high - section * (high - low);
      at_a = loss(a);
    } else {
      low = a;
      a = b;
      at_a = at_b;
      b = low + section * (high - low);
      at_b = loss(b);
    }
  }
  return 2 / (low + high);
}

} // namespace clade
