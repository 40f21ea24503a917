#include "genome/base/utf8.hpp"

#include <catch2/catch.hpp>
#include <rapidcheck.h>

#include <string>
#include <utility>
#include <vector>

using namespace clade;

TEST_CASE("utf8: text is told from controls and from bytes that are no characters") {
  for (const auto* plain : {"", "a b", "two\n\tlines", "Größe", "日本", "🙂"}) {
    INFO(plain);
    CHECK(is_plain_text(plain));
    CHECK(plain_text(plain) == plain);
  }
  for (const auto& [text, shown] : {std::pair{"a\x1b[2Jb", "a?[2Jb"},
                                    {"\r", "?"},
                                    {"\x7f", "\\u007f"},
                                    {"\xc2\x9b", "\\u009b"}, // CSI, of ISO 6429.
                                    {"a\xe2\x80\xae"
                                     "b",
                                     "a\\u202eb"}, // Right to left.
                                    {"\xe2\x81\xa6", "\\u2066"},
                                    {"\xd8\x9c", "\\u061c"},
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

TEST_CASE("utf8: a text in pieces is made plain as the whole would be") {
  REQUIRE(rc::check([] {
    // Characters of up to four bytes, some cut off, are met more often than by chance.
    const auto parts =
        *rc::gen::container<std::vector<std::string>>(rc::gen::element<std::string>(
            "a", "\x1b", "\xc2\x9b", "\xe2\x80\xae", "\xf0\x9f\x99\x82", "\xe2\x80",
            "\xf0\x9f", "\x80", "\n", "\xff"));
    std::string all, plain;
    plain_stream stream;
    for (const auto& part : parts) {
      all += part;
      for (const char c : part)
        plain += stream.add({&c, 1});
    }
    RC_ASSERT(plain + stream.finish() == plain_text(all));
  }));
}

TEST_CASE("utf8: a line has no ends of lines within it") {
  CHECK(plain_line("a\nb\tc\x1b\xc2\x9b") == "a?b?c?\\u009b");
}
