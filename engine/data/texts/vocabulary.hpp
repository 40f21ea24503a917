#pragma once

#include "engine/data/columns/examples.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace clade {

/// The limits of the vocabularies of a table.
namespace vocabulary_rules {
/// Terms of all columns of texts together.
inline constexpr std::size_t most_terms = 6000;
/// The same where there are scores of texts beside them (text_scores.hpp).
inline constexpr std::size_t most_beside_scores = 300;
/// Inputs that they make of all examples together, in float: 400 MB.
inline constexpr std::size_t most_weights = 100'000'000;
/// A vocabulary is learnt from texts of so many bytes together, taken evenly.
inline constexpr std::size_t most_bytes = std::size_t{32} << 20;
} // namespace vocabulary_rules

/// Terms of a column of texts, sorted, each with its weight (column_encoding.hpp).
struct vocabulary {
  std::vector<std::string> terms;
  std::vector<double> weights;
};

/// A term and the texts that have it, by their places among those that are learnt from.
struct listed_term {
  std::string term;
  std::vector<std::uint32_t> texts;
};

/// The texts of a column that are learnt from, the examples that they are of, in rising
/// order, and their terms.
struct listed_texts {
  std::vector<const std::string*> texts;
  std::vector<std::uint32_t> examples;
  std::vector<listed_term> terms; ///< In order of appearance.
};

/// Lists the texts of the examples `train` that are no blanks, or some of them, evenly taken,
/// where they are too long together; and the terms that two of them have at least, or the
/// more frequent ones where these are too many. The features of `e` are not encoded yet.
[[nodiscard]] listed_texts list_texts(const examples& e, const text_column& texts,
                                      std::span<const std::uint32_t> train);

/// Returns how many terms each of so many columns of texts may have, of so many examples,
/// where all columns together may have `most`.
[[nodiscard]] std::size_t terms_of_each(std::size_t most, std::size_t columns,
                                        std::size_t examples);

/// Returns the terms whose chance to be in a text depends on the target beyond what luck
/// gives in one case of twenty (chi-squared for classes, the squared correlation times the
/// examples for numbers), the most telling ones, at most `most`, a third of them words and
/// pairs. A term's weight is 1 + ln((1 + texts) / (1 + texts with the term)).
[[nodiscard]] vocabulary telling_vocabulary(const examples& e, const listed_texts& from,
                                            std::size_t most);

/// Returns the terms that not all texts have, whatever they tell: those of most texts, at
/// most `most`.
[[nodiscard]] vocabulary common_vocabulary(const listed_texts& from, std::size_t most);

} // namespace clade
