#include "engine/training/metrics/class_metrics.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace clade {

namespace {

double ratio(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}

std::span<const float> scores_of(const class_predictions& p, std::size_t example) {
  return p.scores.subspan(example * p.classes, p.classes);
}

/// The logarithm of the sum of exponentials of all scores.
double log_of_sum(std::span<const float> scores) {
  const auto most = static_cast<double>(*std::ranges::max_element(scores));
  double sum = 0;
  for (const float s : scores)
    sum += std::exp(s - most);
  return most + std::log(sum);
}

/// The logarithm of a class's odds against all others, which orders examples as its
/// probability does. Near a probability of 1 it is too coarse for the likeliest class,
/// where the sum over the others is taken instead.
double log_of_odds(std::span<const float> scores, std::size_t of, double sum) {
  if (scores.size() == 2)
    return static_cast<double>(scores[of]) - scores[1 - of];
  const auto share = static_cast<double>(scores[of]) - sum;
  if (share < -0.5)
    return share - std::log1p(-std::exp(share));
  std::vector<float> others(scores.begin(), scores.end());
  others.erase(others.begin() + static_cast<std::ptrdiff_t>(of));
  return scores[of] - log_of_sum(others);
}

} // namespace

std::uint64_t confusion_counts::actual(std::size_t c) const {
  std::uint64_t sum = 0;
  for (std::size_t j = 0; j < classes; ++j)
    sum += at(c, j);
  return sum;
}

std::uint64_t confusion_counts::predicted(std::size_t c) const {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < classes; ++i)
    sum += at(i, c);
  return sum;
}

std::uint64_t confusion_counts::examples() const {
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

confusion_counts confusion_of(const class_predictions& p) {
  confusion_counts c{p.classes, std::vector<std::uint64_t>(p.classes * p.classes)};
  for (std::size_t i = 0; i < p.labels.size(); ++i) {
    const auto scores = scores_of(p, i);
    const auto best = std::ranges::max_element(scores) - scores.begin();
    ++c.counts[static_cast<std::size_t>(p.labels[i]) * p.classes
               + static_cast<std::size_t>(best)];
  }
  return c;
}

double accuracy(const confusion_counts& c) {
  std::uint64_t right = 0;
  for (std::size_t i = 0; i < c.classes; ++i)
    right += c.at(i, i);
  return ratio(right, c.examples());
}

double precision(const confusion_counts& c, std::size_t of) {
  return ratio(c.at(of, of), c.predicted(of));
}

double recall(const confusion_counts& c, std::size_t of) {
  return ratio(c.at(of, of), c.actual(of));
}

double f1(const confusion_counts& c, std::size_t of) {
  return ratio(2 * c.at(of, of), c.actual(of) + c.predicted(of));
}

double f1_macro(const confusion_counts& c) {
  double sum = 0;
  std::size_t there = 0;
  for (std::size_t i = 0; i < c.classes; ++i)
    if (c.actual(i) + c.predicted(i) > 0) {
      sum += f1(c, i);
      ++there;
    }
  return there == 0 ? 0 : sum / static_cast<double>(there);
}

double balanced_accuracy(const confusion_counts& c) {
  double sum = 0;
  std::size_t there = 0;
  for (std::size_t i = 0; i < c.classes; ++i)
    if (c.actual(i) > 0) {
      sum += recall(c, i);
      ++there;
    }
  return there == 0 ? 0 : sum / static_cast<double>(there);
}

double matthews(const confusion_counts& c) {
  double actual_squares = 0, predicted_squares = 0, both = 0, right = 0;
  const auto all = static_cast<double>(c.examples());
  for (std::size_t i = 0; i < c.classes; ++i) {
    const auto actual = static_cast<double>(c.actual(i)),
               predicted = static_cast<double>(c.predicted(i));
    actual_squares += actual * actual;
    predicted_squares += predicted * predicted;
    both += actual * predicted;
    right += static_cast<double>(c.at(i, i));
  }
  const auto under =
      std::sqrt(all * all - actual_squares) * std::sqrt(all * all - predicted_squares);
  return under > 0 ? (right * all - both) / under : 0;
}

// By the sum of the positives' ranks (Mann and Whitney, 1947).
double area_under_curve(std::span<const double> scores,
                        std::span<const std::uint8_t> positive) {
  std::vector<std::size_t> order(scores.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return scores[i]; });
  double ranks = 0, positives = 0;
  for (std::size_t from = 0; from < order.size();) {
    auto to = from;
    std::size_t in_tie = 0;
    for (; to < order.size() && scores[order[to]] == scores[order[from]]; ++to)
      in_tie += positive[order[to]] != 0 ? 1 : 0;
    // Ranks count from 1; those of a tie are averaged.
    ranks += static_cast<double>(in_tie) * (static_cast<double>(from + to + 1) / 2);
    positives += static_cast<double>(in_tie);
    from = to;
  }
  const auto negatives = static_cast<double>(scores.size()) - positives;
  if (positives == 0 || negatives == 0)
    return 0.5;
  return (ranks - positives * (positives + 1) / 2) / (positives * negatives);
}

double auc(const class_predictions& p) {
  const auto examples = p.labels.size();
  std::vector<double> odds(examples), sums(examples);
  std::vector<std::uint8_t> positive(examples);
  for (std::size_t i = 0; i < examples; ++i)
    sums[i] = log_of_sum(scores_of(p, i));
  double sum = 0;
  std::size_t there = 0;
  for (std::size_t c = p.classes == 2 ? 1 : 0; c < p.classes && p.classes > 1; ++c) {
    std::size_t positives = 0;
    for (std::size_t i = 0; i < examples; ++i) {
      odds[i] = log_of_odds(scores_of(p, i), c, sums[i]);
      positive[i] = p.labels[i] == static_cast<std::int64_t>(c) ? 1 : 0;
      positives += positive[i];
    }
    if (positives == 0 || positives == examples)
      continue;
    sum += area_under_curve(odds, positive);
    ++there;
  }
  return there == 0 ? 0.5 : sum / static_cast<double>(there);
}

double top(const class_predictions& p, std::size_t k) {
  std::uint64_t found = 0;
  for (std::size_t i = 0; i < p.labels.size(); ++i) {
    const auto scores = scores_of(p, i);
    const auto own = static_cast<std::size_t>(p.labels[i]);
    std::size_t before = 0;
    for (std::size_t c = 0; c < p.classes; ++c)
      before += scores[c] > scores[own] || (scores[c] == scores[own] && c < own) ? 1 : 0;
    found += before < k ? 1 : 0;
  }
  return ratio(found, p.labels.size());
}

double example_log_loss(const class_predictions& p, std::size_t example) {
  const auto scores = scores_of(p, example);
  return log_of_sum(scores)
         - static_cast<double>(scores[static_cast<std::size_t>(p.labels[example])]);
}

double log_loss(const class_predictions& p) {
  double sum = 0;
  for (std::size_t i = 0; i < p.labels.size(); ++i)
    sum += example_log_loss(p, i);
  return p.labels.empty() ? 0 : sum / static_cast<double>(p.labels.size());
}

} // namespace clade
