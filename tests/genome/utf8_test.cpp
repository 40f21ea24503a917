#include "genome/utf8.hpp"

#include <catch2/catch.hpp>
#include <rapidcheck.h>

using namespace clade;

TEST_CASE("utf8: text is told from controls and from bytes that are no characters") {
  for (const auto* plain : {"", "a b", "two\n\tlines", "Größe", "日本", "🙂"}) {
    INFO(plain);
    CHECK(is_plain_text(plain));
    CHECK(plain_text(plain) == plain);
  }
  for (const auto& [text, shown] : {std::pair{"a\x1b[2Jb", "a?[2Jb"},
                                    {"\r", "?"},
                                    {"\x7f", "?"},
                                    {"\xc2\x9b", "?"},          // CSI, of ISO 6429.
                                    {"\xc0\x80", "??"},         // Longer than it must be.
                                    {"\xed\xa0\x80", "???"},    // A surrogate.
                                    {"\xf0\x9f\x99", "???"}}) { // Cut off.
    INFO(shown);
    CHECK_FALSE(is_plain_text(text));
    CHECK(plain_text(text) == shown);
  }
}

TEST_CASE("utf8: whatever the bytes what is made of them is plain") {
  REQUIRE(rc::check([] {
    const auto text = *rc::gen::arbitrary<std::string>();
    const auto plain = plain_text(text);
    RC_ASSERT(is_plain_text(plain));
    RC_ASSERT((plain == text) == is_plain_text(text));
  }));
}
