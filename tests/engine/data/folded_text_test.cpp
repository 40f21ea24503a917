#include "engine/data/bytes/folded_text.hpp"

#include <catch2/catch.hpp>

using namespace clade;

TEST_CASE("folded text: what looks alike is equal") {
  for (const char* text :
       {"New York", "new york ", " NEW  YORK", "new\u00a0york", "\ufeffNew\u200b York"})
    CHECK(folded(text) == "new york");
  CHECK(folded("ÄÖÜ ŁÓDŹ ΑΘΗΝΑ МОСКВА") == "äöü łódź αθηνα москва");
  CHECK(folded("a\xff") == "a\xff");
  CHECK(folded("") == "");
}

TEST_CASE("folded text: groups of look-alikes are in the order of the texts") {
  using groups = std::vector<std::vector<std::string>>;
  CHECK(look_alikes({"b", "Yes", "no", "yes ", "B"})
        == groups{{"b", "B"}, {"Yes", "yes "}});
  CHECK(look_alikes({"a", "b"}).empty());
}

TEST_CASE("folded text: other letters are written in Latin ones, as far as it goes") {
  CHECK(in_latin_letters("größe") == "groesse");
  CHECK(in_latin_letters("Łódź, çà") == "lodz, ca");
  CHECK(in_latin_letters("цена ή τιμή") == "tsena i timi");
  CHECK(in_latin_letters("o\u0308l") == "ol");
  CHECK(in_latin_letters("a価格b") == "a-b");
  CHECK(in_latin_letters("a\xff\xfe") == "a-");
}
