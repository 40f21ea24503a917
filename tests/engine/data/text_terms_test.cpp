#include "engine/data/bytes/text_terms.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>

using namespace clade;

namespace {

using texts = std::vector<std::string>;

texts terms_of(std::string_view text) {
  texts out;
  each_term(text, [&](std::string_view term) { out.emplace_back(term); });
  return out;
}

/// The terms that are no pieces.
texts words_of(std::string_view text) {
  auto out = terms_of(text);
  std::erase_if(out, [](const std::string& term) { return term.front() == '#'; });
  return out;
}

} // namespace

TEST_CASE("text terms: a text is its words, pairs of them, and pieces of words") {
  CHECK(terms_of("It IS") == texts{"it", "# it", "#it ", "is", "it is", "# is", "#is "});
  CHECK(terms_of("ever").size() == 1 + 4 + 3 + 2);
  CHECK(terms_of("").empty());
  CHECK(terms_of(" .,;\t").empty());
}

TEST_CASE("text terms: letters of any script are in words, in small letters") {
  CHECK(words_of("Größe") == texts{"größe"});
  CHECK(words_of("ЦЕНА Ωmega") == texts{"цена", "ωmega", "цена ωmega"});
  CHECK(words_of("don't 'quote' it\xe2\x80\x99s rock'n''roll")
        == texts{"don't", "quote", "don't quote", "it's", "quote it's", "rock'n",
                 "it's rock'n", "roll", "rock'n roll"});
  CHECK(words_of("so good!?")
        == texts{"so", "good", "so good", "!", "good !", "?", "! ?"});
  CHECK(words_of("好書") == texts{"好", "書", "好 書"});
  CHECK(words_of("a\xe2\x80\x94"
                 "b")
        == texts{"a", "b", "a b"});
}

TEST_CASE("text terms: any bytes part words where they are no letters") {
  CHECK(words_of(std::string_view("a\0b\xff"
                                  "c",
                                  5))
        == texts{"a", "b", "a b", "c", "b c"});
  CHECK(words_of("\xf0\x9f").empty());
}

TEST_CASE("text terms: what is no word any more parts a pair") {
  CHECK(words_of("a " + std::string(41, 'x') + " b") == texts{"a", "b"});
  CHECK(words_of(std::string(40, 'x')).size() == 1);
}

TEST_CASE("text terms: a long text ends after so many words") {
  std::string text;
  for (std::size_t i = 0; i < text_rules::most_words + 5; ++i)
    text += "a ";
  const auto words = words_of(text);
  CHECK(std::ranges::count(words, "a") == std::ptrdiff_t{text_rules::most_words});
}

TEST_CASE("text terms: words weigh as much as pieces, rare ones more than usual ones") {
  const texts terms{"#goo", "#ood", "bad", "good"};
  const std::vector<double> weights{1, 1, 2, 3};
  const term_weigher weigher(terms, weights);
  CHECK(weigher.weigh("nothing of it").empty());
  const auto found = weigher.weigh("Good, bad and good");
  REQUIRE(found.size() == 4);
  CHECK(found[0].weight == Approx(std::sqrt(0.5)));
  const double twice = 3 * (1 + std::log(2.0));
  CHECK(found[3].term == 3);
  CHECK(found[2].weight == Approx(2 / std::sqrt(4 + twice * twice)));
  CHECK(found[3].weight == Approx(twice / std::sqrt(4 + twice * twice)));
}
