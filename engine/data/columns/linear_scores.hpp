#pragma once

#include "engine/data/bytes/text_terms.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace clade {

/// Texts as weighed terms, one text after another.
struct weighed_texts {
  std::vector<term_weight> terms{};
  std::vector<std::size_t> ends{}; ///< By text: where its terms end.

  void add(std::span<const term_weight> text);
  [[nodiscard]] std::size_t count() const { return ends.size(); }
  [[nodiscard]] std::span<const term_weight> text(std::size_t i) const;
};

/// The targets that scores of texts are to tell: the class of each, or numbers of mean 0
/// and deviation 1.
struct score_targets {
  std::size_t classes = 0;             ///< 0: numbers.
  std::vector<std::uint32_t> labels{}; ///< By text.
  std::size_t values = 1;              ///< How many numbers each text has.
  std::vector<float> numbers{};        ///< By text and value.

  /// One score for two classes, else one for each class or number.
  [[nodiscard]] std::size_t outputs() const;
  /// Returns the score that a text should have: 1 for its class and -1 for another, or its
  /// number.
  [[nodiscard]] float wanted(std::size_t text, std::size_t output) const;
};

/// Scores of a text: an intercept, and the sum of its terms' weights times their
/// coefficients.
struct linear_scores {
  std::vector<float> coefficients{}; ///< [terms, outputs]
  std::vector<float> intercepts{};   ///< [outputs]

  /// Appends the scores of a text: in double, in the order of its terms.
  void append(std::span<const term_weight> text, std::vector<double>& scores) const;

  friend bool operator==(const linear_scores&, const linear_scores&) = default;
};

struct score_fit {
  std::size_t terms = 0;  ///< All terms that texts may have.
  double cost = 0.1;      ///< How much an error costs beside large coefficients.
  std::uint64_t seed = 0; ///< Decides the order in which texts are visited.
};

/// Fits scores to the texts `from`. For classes, a support vector machine of squared hinge
/// loss over the weights of terms times their naive Bayes log-count ratios, one class
/// against the others (NB-SVM: Wang and Manning, "Baselines and Bigrams", 2012); for
/// numbers, a ridge regression. The same arguments give the same bits.
[[nodiscard]] linear_scores fit_linear_scores(const weighed_texts& texts,
                                              const score_targets& targets,
                                              std::span<const std::uint32_t> from,
                                              const score_fit& how);

/// Returns how well the scores [from, outputs] of the texts `from` tell what is wanted: the
/// mean squared correlation of an output, which no scale of the scores changes; 0 of those
/// that are all the same.
[[nodiscard]] double told_by(std::span<const double> scores, const score_targets& targets,
                             std::span<const std::uint32_t> from);

} // namespace clade
