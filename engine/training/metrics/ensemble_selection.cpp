#include "engine/training/metrics/ensemble_selection.hpp"

#include "engine/run/steps/final_choice.hpp"
#include "engine/training/metrics/several_metrics.hpp"
#include "genome/base/random.hpp"
#include "genome/genes/hash.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <numeric>

namespace clade {

namespace {

constexpr double least_probability = 1e-12;

double loss_of_sum(std::span<const double> sum, std::span<const double> more,
                   double count, const answer_loss& loss) {
  double total = 0;
  for (std::size_t i = 0; i < sum.size(); ++i) {
    const double mean = (sum[i] + more[i]) / count;
    total += loss.of(mean, i);
  }
  return total / static_cast<double>(std::max<std::size_t>(1, sum.size()));
}

/// Some of the examples: those whose index leaves `rest` when divided by `parts`, or all
/// but those.
struct example_choice {
  std::size_t parts = 1, rest = 0;
  bool others = false;

  [[nodiscard]] bool has(std::size_t i) const { return (i % parts == rest) != others; }
};

/// Computes expected losses of the same probabilities at any temperature.
class calibration {
public:
  calibration(std::span<const float> probabilities, std::span<const std::int64_t> labels)
      : classes_(probabilities.size() / labels.size()) {
    const auto n = static_cast<double>(labels.size());
    const double own = (n + 1) / (n + 2);
    const double other = classes_ < 2 ? 0 : (1 - own) / static_cast<double>(classes_ - 1);
    logs_.reserve(probabilities.size());
    for (const double p : probabilities)
      logs_.push_back(std::log(std::max(p, least_probability)));
    for (std::size_t i = 0; i < labels.size(); ++i) {
      double said = 0;
      for (std::size_t c = 0; c < classes_; ++c)
        said += (c == static_cast<std::size_t>(labels[i]) ? own : other)
                * logs_[i * classes_ + c];
      said_.push_back(said);
    }
  }

  [[nodiscard]] double loss(double temperature, const example_choice& choice = {}) const {
    double total = 0, count = 0;
    for (std::size_t i = 0; i < said_.size(); ++i) {
      if (!choice.has(i))
        continue;
      double sum = 0;
      for (std::size_t c = 0; c < classes_; ++c)
        sum += std::exp(logs_[i * classes_ + c] / temperature);
      total += std::log(sum) - said_[i] / temperature;
      ++count;
    }
    return count == 0 ? 0 : total / count;
  }

  [[nodiscard]] double best_temperature(const example_choice& choice = {}) const;

private:
  std::size_t classes_;
  std::vector<double> logs_; ///< The logarithms of probabilities.
  std::vector<double> said_; ///< Their mean over the classes that an example may have.
};

// The loss is convex in 1 / temperature: golden sections find its one minimum.
double calibration::best_temperature(const example_choice& choice) const {
  constexpr double section = 0.6180339887498949;
  double low = 0.2, high = 5;
  double a = high - section * (high - low), b = low + section * (high - low);
  double at_a = loss(1 / a, choice), at_b = loss(1 / b, choice);
  for (int i = 0; i < 30; ++i) {
    if (at_a < at_b) {
      high = b;
      b = a;
      at_b = at_a;
      a = high - section * (high - low);
      at_a = loss(1 / a, choice);
    } else {
      low = a;
      a = b;
      at_a = at_b;
      b = low + section * (high - low);
      at_b = loss(1 / b, choice);
    }
  }
  return 2 / (low + high);
}

/// Returns whether an ensemble that is measured as `next` is fitter than it was. Sums of
/// equal numbers differ in their last bits.
bool is_fitter(const evaluation& next, const evaluation& before, const objective& goal) {
  const auto f = fitness_of(next, goal), g = fitness_of(before, goal);
  if (!f.ok || is_behind(next, before, goal))
    return false;
  return f.violation < g.violation || f.primary > g.primary
         || f.secondary > g.secondary + 1e-9 * std::abs(g.secondary);
}

} // namespace

double answer_loss::of(double answer, std::size_t place) const {
  switch (kind) {
  case loss_kind::cross_entropy:
    return -std::log(std::max(answer, least_probability));
  case loss_kind::squared_error:
    return answer * answer;
  case loss_kind::binary_cross_entropy:
    return std::max(-answer, 0.0) + std::log1p(std::exp(-std::abs(answer)));
  case loss_kind::pinball:
    return pinball_loss(-answer, scales[place % scales.size()].quantile);
  }
  std::abort();
}

std::vector<std::uint32_t> select_ensemble(std::span<const validation_answers> models,
                                           const answer_loss& loss,
                                           std::uint32_t rounds) {
  std::vector<std::uint32_t> chosen(models.size(), 0), best(models.size(), 0);
  if (models.empty())
    return best;
  std::vector<double> sum(models.front().size(), 0);
  double lowest = std::numeric_limits<double>::infinity();
  for (std::uint32_t round = 1; round <= rounds; ++round) {
    std::size_t next = 0;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t m = 0; m < models.size(); ++m)
      if (const double lost = loss_of_sum(sum, models[m], round, loss); lost < least) {
        least = lost;
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

std::vector<std::uint32_t> select_from_samples(std::span<const validation_answers> models,
                                               const answer_loss& loss,
                                               std::uint64_t seed) {
  constexpr std::size_t enough_examples = 5'000, samples = 20;
  constexpr std::uint32_t rounds = 25;
  constexpr double parts = 50;
  const auto examples = models.empty() ? 0 : models.front().size();
  if (examples < 2 || examples >= enough_examples)
    return select_ensemble(models, loss);
  const auto width = std::max<std::size_t>(1, loss.scales.size());
  auto random = derive(seed, purpose::training, 0, hash64("samples of an ensemble"), 0);
  std::vector<double> shares(models.size(), 0);
  std::vector<validation_answers> drawn(models.size(), validation_answers(examples));
  for (std::size_t sample = 0; sample < samples; ++sample) {
    for (std::size_t i = 0; i < examples; ++i) {
      auto one = random.below(examples);
      one += i % width - one % width; // An answer of the same output.
      for (std::size_t m = 0; m < models.size(); ++m)
        drawn[m][i] = models[m][one];
    }
    const auto chosen = select_ensemble(drawn, loss, rounds);
    const double total = std::accumulate(chosen.begin(), chosen.end(), 0.0);
    for (std::size_t m = 0; m < models.size() && total > 0; ++m)
      shares[m] += chosen[m] / total / static_cast<double>(samples);
  }
  std::vector<std::uint32_t> found;
  for (const double share : shares)
    found.push_back(static_cast<std::uint32_t>(std::lround(parts * share)));
  const bool none = std::ranges::all_of(found, [](auto c) { return c == 0; });
  return none ? select_ensemble(models, loss) : found;
}

std::vector<std::uint32_t> grow_ensemble(std::size_t models, std::size_t first,
                                         const objective& goal,
                                         const ensemble_measure& measure,
                                         std::uint32_t rounds) {
  std::vector<std::uint32_t> chosen(models, 0);
  chosen[first] = 1;
  auto best = measure(chosen);
  for (std::uint32_t round = 0; best && round < rounds; ++round) {
    std::vector<evaluation> tried;
    for (std::size_t m = 0; m < models; ++m) {
      ++chosen[m];
      const auto found = measure(chosen);
      --chosen[m];
      if (!found)
        return chosen;
      tried.push_back(*found);
    }
    const auto next = best_model(tried, goal);
    if (!next || !is_fitter(tried[*next], *best, goal))
      break;
    ++chosen[*next];
    best = std::move(tried[*next]);
  }
  return chosen;
}

double expected_loss(std::span<const float> probabilities,
                     std::span<const std::int64_t> labels, double temperature) {
  return labels.empty() ? 0 : calibration(probabilities, labels).loss(temperature);
}

double least_probability_of(std::size_t examples, std::size_t classes) {
  return std::min(1 / (static_cast<double>(examples) + 1),
                  0.5 / static_cast<double>(classes));
}

// Fitted to all but a fifth of the examples and judged by that fifth, five times.
double fit_temperature(std::span<const float> probabilities,
                       std::span<const std::int64_t> labels) {
  constexpr std::size_t parts = 5;
  if (labels.size() < 2 * parts)
    return 1;
  const calibration all(probabilities, labels);
  constexpr std::array strengths{0.0, 0.25, 0.5, 0.75, 1.0};
  std::array<double, strengths.size()> losses{};
  for (std::size_t part = 0; part < parts; ++part) {
    const double fitted = all.best_temperature({parts, part, /*others=*/true});
    for (std::size_t i = 0; i < strengths.size(); ++i)
      losses[i] += all.loss(std::pow(fitted, strengths[i]), {parts, part});
  }
  const auto lowest = std::ranges::min_element(losses) - losses.begin();
  const double fitted =
      std::pow(all.best_temperature(), strengths[static_cast<std::size_t>(lowest)]);
  return lowest != 0 && all.loss(fitted) < all.loss(1) ? fitted : 1;
}

} // namespace clade
