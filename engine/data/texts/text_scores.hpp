#pragma once

#include "engine/data/texts/vocabulary.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace clade {

/// The limits of what scores of texts are learnt from.
namespace score_rules {
/// There are no scores for more classes.
inline constexpr std::size_t most_classes = 100;
/// Terms of a column.
inline constexpr std::size_t most_terms = 200'000;
/// Coefficients: terms times scores.
inline constexpr std::size_t most_coefficients = 4'000'000;
/// Scores of all examples; there are none where there would be more.
inline constexpr std::size_t most_scores = 25'000'000;
/// Weights of terms in all texts, times the scores and a few: some seconds.
inline constexpr std::size_t most_work = 200'000'000;
inline constexpr std::size_t folds = 5;
} // namespace score_rules

/// The scores of a column, and those of the examples that it was learnt from.
struct learnt_scores {
  text_scores scores;
  /// The examples whose texts were learnt from, in rising order, and what models say of
  /// them that were fitted without them: [examples, scores].
  std::vector<std::uint32_t> examples{};
  std::vector<double> left_out{};

  /// Returns the scores of an example that was learnt from; of another one, none.
  [[nodiscard]] std::span<const double> of(std::uint32_t example) const;
};

/// Learns the scores of a column of texts of `e` from those that are `listed`. The texts are
/// dealt into folds by `seed`, those that are equal or of one group (`by_group`:
/// `examples::split_codes`) into the same one. Each fold is told by a model of the others, so
/// that a network which learns from these scores trusts them as far as it may trust those of
/// new texts; how large coefficients may be is chosen by the first fold. Empty where there
/// are too many classes, too few texts, or no terms that some have in common. The number of
/// processors decides nothing.
[[nodiscard]] learnt_scores learn_text_scores(const examples& e,
                                              const listed_texts& listed,
                                              std::uint64_t seed, bool by_group);

} // namespace clade
