#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace clade {

/// The limits of what a text is taken apart into.
namespace text_rules {
inline constexpr std::size_t most_words = 10'000; ///< The rest of a text says nothing.
inline constexpr std::size_t longest_word = 40;   ///< Letters; longer ones are no words.
inline constexpr std::size_t least_letters = 3,
                             most_letters = 5; ///< The length of a piece.
} // namespace text_rules

/// Code points from the first to the second.
using code_range = std::pair<std::uint32_t, std::uint32_t>;

/// Code points beyond ASCII that are in no word: marks, blanks and symbols.
[[nodiscard]] std::span<const code_range> text_separators();
/// Code points that are a word each: letters of scripts without blanks, small pictures.
[[nodiscard]] std::span<const code_range> text_lone_words();

/// Calls `visit` with each term of a text (UTF-8; bytes that are none part words), in
/// order, with repeated ones. Letters are small (`small_letter`). The terms are
///   * words: letters and digits, and an apostrophe between two of them; '!', '?' and what
///     `text_lone_words` has are words each;
///   * pairs: two words that follow each other, with a blank between them;
///   * pieces of a word between two blanks, " word ", of three to five characters and
///     shorter than that: "# wo", "#ord ". They begin with '#', as no other term does.
void each_term(std::string_view text, const std::function<void(std::string_view)>& visit);

/// The input that a term has, and its weight in one text.
struct term_weight {
  std::uint32_t term = 0;
  float weight = 0;

  friend bool operator==(const term_weight&, const term_weight&) = default;
};

/// Weighs the terms of texts: (1 + ln n) w for a term that occurs n times and has the
/// weight w, divided so that the squares of words and pairs add up to 1, and those of
/// pieces do, too (tf-idf with sublinear counts: Salton and Buckley, 1988).
class term_weigher {
public:
  /// `terms` are sorted, each once, and outlive it; each has a weight.
  term_weigher(const std::vector<std::string>& terms, const std::vector<double>& weights);

  /// Returns the terms that are there, in their order.
  [[nodiscard]] std::vector<term_weight> weigh(std::string_view text) const;

private:
  std::unordered_map<std::string_view, std::uint32_t> places_;
  std::vector<bool> pieces_; ///< By term.
  const std::vector<double>* weights_;
};

} // namespace clade
