// Any bytes are words, pairs and pieces, whose weights make up a length of 1.
#include "engine/data/bytes/text_terms.hpp"
#include "tests/fuzz/law.hpp"

#include <algorithm>
#include <cmath>
#include <set>

using namespace clade;
using namespace clade::fuzz;

namespace {

std::vector<std::string> terms_of(std::string_view text) {
  std::vector<std::string> terms;
  each_term(text, [&](std::string_view term) { terms.emplace_back(term); });
  return terms;
}

std::string in_other_case(std::string text) {
  for (char& c : text)
    if (c >= 'a' && c <= 'z')
      c = static_cast<char>(c - 'a' + 'A');
    else if (c >= 'A' && c <= 'Z')
      c = static_cast<char>(c - 'A' + 'a');
  return text;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto text = text_of(data, size);
  const auto terms = terms_of(text);
  hold(terms_of(in_other_case(std::string(text))) == terms, "case says nothing");
  for (const auto& term : terms) {
    hold(!term.empty(), "a term is something");
    hold(term.front() == '#' ? term.size() <= 1 + 4 * text_rules::most_letters
                             : term.size() <= 1 + 8 * text_rules::longest_word,
         "a term is short");
  }
  const std::set<std::string> each(terms.begin(), terms.end());
  const std::vector<std::string> known(each.begin(), each.end());
  std::vector<double> weights;
  for (std::size_t i = 0; i < known.size(); ++i)
    weights.push_back(1 + static_cast<double>(i % 7));
  const auto weighed = term_weigher(known, weights).weigh(text);
  hold(weighed.size() == known.size(), "each term that is there has a weight");
  double words = 0, pieces = 0;
  for (std::size_t i = 0; i < weighed.size(); ++i) {
    hold(weighed[i].term == i && weighed[i].weight > 0, "terms are in order");
    (known[i].front() == '#' ? pieces : words) += std::pow(weighed[i].weight, 2);
  }
  for (const double squares : {words, pieces})
    hold(squares == 0 || std::abs(squares - 1) < 1e-3, "each part has a length of 1");
  return 0;
}
