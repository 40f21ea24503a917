// The Python of text_terms.cpp, in the same order of sums, so that the inputs are the same.

#include "engine/export/source/text_source.hpp"

#include "engine/data/bytes/text_terms.hpp"
#include "engine/export/source/python_source.hpp"
#include "genome/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace clade {
namespace {

constexpr std::string_view methods = R"py(def text(self, text, places, weights):
    # Returns the weights of all terms in a text.
    values = [0.0] * len(weights)
    for place, weight in self.weigh(text, places, weights).items():
        values[place] = weight
    return values

def scores(self, text, places, weights, coefficients, intercepts):
    # Returns the scores that the linear model of a column gives a text.
    scores = list(intercepts)
    for place, weight in self.weigh(text, places, weights).items():
        single = array.array("f", [weight])[0]
        for i in range(len(scores)):
            scores[i] += single * coefficients[place * len(scores) + i]
    return list(array.array("f", scores))

def weigh(self, text, places, weights):
    # Returns the weights of the terms that are in a text, by place, in order; words and pairs make a length of 1, pieces of
    # words another.
    weighed = {}
    if text.lower() in BLANKS:
        return weighed
    counts = {}
    for term in self.terms(text):
        if term in places:
            counts[term] = counts.get(term, 0) + 1
    squares = [0.0, 0.0]
    for term in sorted(counts, key=places.get):
        weight = (1.0 + math.log(counts[term])) * weights[places[term]]
        weighed[places[term]] = weight
        squares[term[0] == "#"] += weight * weight
    for term in counts:
        weighed[places[term]] /= math.sqrt(squares[term[0] == "#"])
    return weighed

def terms(self, text):
    # Returns the words of a text, pairs of them, and pieces of each word, with repeated ones.
    found = []
    last = ""
    for word in self.words(text):
        if len(word) > LONGEST:
            last = ""
            continue
        found.append(word)
        if last != "":
            found.append(last + " " + word)
        last = word
        padded = " " + word + " "
        for n in range(LEAST, MOST + 1):
            if n < len(padded):
                found.extend("#" + padded[i:i + n] for i in range(len(padded) - n + 1))
    return found

def words(self, text):
    # Returns the words of a text in small letters, those that are too long among them.
    found = []
    word = ""
    apostrophe = False
    count = 0
    for letter in text + " ":
        kind = self.kind(letter)
        if kind == "apostrophe" and word != "" and not apostrophe:
            apostrophe = True
            continue
        if kind != "letter":
            if word != "":
                found.append(word)
                count += len(word) <= LONGEST
                if count == WORDS:
                    return found
            word = ""
            apostrophe = False
        if kind == "lone":
            found.append(self.small(letter))
            count += 1
            if count == WORDS:
                return found
        if kind == "letter":
            word += ("'" if apostrophe else "") + self.small(letter)
            apostrophe = False
    return found

def kind(self, letter):
    code = ord(letter)
    if code < 0x80:
        if letter.isalnum():
            return "letter"
        return {"!": "lone", "?": "lone", "'": "apostrophe"}.get(letter, "separator")
    if code == 0x2019:
        return "apostrophe"
    if any(first <= code <= last for first, last in SEPARATORS):
        return "separator"
    return "lone" if any(first <= code <= last for first, last in LONE) else "letter"

def small(self, letter):
    # Returns the small letter, of the scripts of Europe alone.
    code = ord(letter)
    if 65 <= code <= 90 or (0xc0 <= code <= 0xde and code != 0xd7) or 0x391 <= code <= 0x3a9 or 0x410 <= code <= 0x42f:
        return chr(code + 32)
    if 0x400 <= code <= 0x40f:
        return chr(code + 80)
    even = 0x100 <= code <= 0x137 or 0x14a <= code <= 0x177
    odd = 0x139 <= code <= 0x148 or 0x179 <= code <= 0x17e
    return chr(code + 1) if (even and code % 2 == 0) or (odd and code % 2 == 1) else letter

)py";

std::string python_pairs(std::span<const code_range> ranges) {
  std::string text;
  for (const auto& [first, last] : ranges)
    text += fmt::format("{}({:#x}, {:#x})", text.empty() ? "" : ", ", first, last);
  return "[" + text + "]";
}

} // namespace

bool has_text_columns(const preprocessing& how) {
  return std::ranges::find(how.columns, encoding_kind::text, &column_encoding::kind)
         != how.columns.end();
}

bool has_text_scores(const preprocessing& how) {
  return std::ranges::any_of(
      how.columns, [](const column_encoding& c) { return c.scores.count() > 0; });
}

std::string text_constants(const preprocessing& how) {
  const auto numbers = [](const auto& all) {
    return joined(all, ", ", [](auto v) { return fmt::format("{}", v); });
  };
  std::string text;
  for (std::size_t i = 0; i < how.columns.size(); ++i) {
    const auto& c = how.columns[i];
    if (c.kind == encoding_kind::text)
      text += fmt::format(
          "values{0} = {1}\n"
          "places{0} = {{term: place for place, term in enumerate(values{0})}}\n"
          "weights{0} = [{2}]\n",
          i, python_literal(c.values), numbers(c.weights));
    if (c.scores.count() > 0)
      text += fmt::format(
          "score_places{0} = {{term: place for place, term in enumerate({1})}}\n"
          "score_weights{0} = [{2}]\n"
          "coefficients{0} = array.array(\"f\", [{3}])\n"
          "intercepts{0} = array.array(\"f\", [{4}])\n",
          i, python_literal(c.scores.terms), numbers(c.scores.weights),
          numbers(c.scores.fit.coefficients), numbers(c.scores.fit.intercepts));
  }
  return text;
}

std::string text_methods() {
  using namespace text_rules;
  std::string text(methods);
  const auto put = [&](std::string_view mark, const std::string& by) {
    for (auto at = text.find(mark); at != std::string::npos;
         at = text.find(mark, at + by.size()))
      text.replace(at, mark.size(), by);
  };
  put("SEPARATORS", python_pairs(text_separators()));
  put("in LONE)", "in " + python_pairs(text_lone_words()) + ")");
  put("LONGEST", std::to_string(longest_word));
  put("LEAST", std::to_string(least_letters));
  put("MOST", std::to_string(most_letters));
  put("WORDS", std::to_string(most_words));
  return text;
}

} // namespace clade
