#include "engine/training/metrics/wrong_examples.hpp"

#include <algorithm>
#include <cmath>

namespace clade {

namespace {

struct loss_of_example {
  std::size_t example = 0;
  double loss = 0;
};

/// Keeps the examples with the highest losses; the losses are in the order of examples.
std::vector<loss_of_example> highest(std::vector<loss_of_example> wrong) {
  const auto kept = std::min(wrong.size(), test_evidence::most_wrong_examples);
  std::ranges::partial_sort(wrong, wrong.begin() + static_cast<std::ptrdiff_t>(kept),
                            [](const loss_of_example& a, const loss_of_example& b) {
                              return a.loss != b.loss ? a.loss > b.loss
                                                      : a.example < b.example;
                            });
  wrong.resize(kept);
  return wrong;
}

} // namespace

std::vector<misclassified> most_wrong(const class_predictions& p,
                                      std::span<const std::uint64_t> places,
                                      std::span<const std::string> files) {
  const auto scores_of = [&](std::size_t i) {
    return p.scores.subspan(i * p.classes, p.classes);
  };
  const auto said_of = [&](std::size_t i) {
    const auto scores = scores_of(i);
    return static_cast<std::size_t>(std::ranges::max_element(scores) - scores.begin());
  };
  std::vector<loss_of_example> wrong;
  for (std::size_t i = 0; i < p.labels.size(); ++i)
    if (said_of(i) != static_cast<std::size_t>(p.labels[i]))
      wrong.push_back({i, example_log_loss(p, i)});
  std::vector<misclassified> out;
  for (const auto& [i, loss] : highest(std::move(wrong))) {
    const auto actual = static_cast<std::size_t>(p.labels[i]), said = said_of(i);
    const auto scores = scores_of(i);
    const double ahead = static_cast<double>(scores[said]) - scores[actual];
    out.push_back({.place = places[i],
                   .actual = p.names[actual],
                   .predicted = p.names[said],
                   .actual_probability = std::exp(-loss),
                   .predicted_probability = std::min(1.0, std::exp(ahead - loss)),
                   .file = files.empty() ? std::nullopt : std::optional(files[i])});
  }
  return out;
}

std::vector<missed_value> most_wrong(const value_predictions& p,
                                     std::span<const std::uint64_t> places,
                                     const value_predictions& shown) {
  std::vector<loss_of_example> wrong;
  for (std::size_t i = 0; i < p.actual.size(); ++i)
    if (p.actual[i] != p.predicted[i])
      wrong.push_back({i, std::abs(p.actual[i] - p.predicted[i])});
  std::vector<missed_value> out;
  for (const auto& one : highest(std::move(wrong)))
    out.push_back({.place = places[one.example],
                   .actual = shown.actual[one.example],
                   .predicted = shown.predicted[one.example]});
  return out;
}

} // namespace clade
