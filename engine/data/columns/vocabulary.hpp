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
/// Inputs that they make of all examples together, in float: 400 MB.
inline constexpr std::size_t most_weights = 100'000'000;
/// A vocabulary is learnt from texts of so many bytes together, taken evenly.
inline constexpr std::size_t most_bytes = std::size_t{32} << 20;
} // namespace vocabulary_rules

/// The terms of a column of texts that tell most of the target, sorted, each with its
/// weight (column_encoding.hpp).
struct vocabulary {
  std::vector<std::string> terms;
  std::vector<double> weights;
};

/// Returns how many terms each of so many columns of texts may have, of so many examples.
[[nodiscard]] std::size_t terms_of_each(std::size_t columns, std::size_t examples);

/// Learns the vocabulary of a column of texts of `e`, whose features are not encoded yet,
/// from the examples `train` alone: the terms that occur in two texts at least and whose
/// chance to be in a text depends on the target beyond what luck gives in one case of
/// twenty (chi-squared for classes, the squared correlation times the examples for
/// numbers), the most telling ones first, at most `most`, a third of them words and pairs. A
/// term's weight is 1 + ln((1 + texts) / (1 + texts with the term)).
[[nodiscard]] vocabulary learn_vocabulary(const examples& e, const text_column& texts,
                                          std::span<const std::uint32_t> train,
                                          std::size_t most);

} // namespace clade
