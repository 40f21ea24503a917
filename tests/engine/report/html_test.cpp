#include "engine/report/base/html.hpp"

#include <catch2/catch.hpp>

using namespace clade;

TEST_CASE("html: no text is taken for markup") {
  CHECK(escaped("<script>alert('1' & \"2\")</script>")
        == "&lt;script&gt;alert(&#39;1&#39; &amp; &quot;2&quot;)&lt;/script&gt;");
  CHECK(escaped("a\nb\tc") == "a\nb\tc");
  CHECK(escaped("größer → 1") == "größer → 1");
}

TEST_CASE("html: what is no character becomes a mark of one") {
  const std::string mark = "\xef\xbf\xbd";
  CHECK(escaped(std::string("a\0b\x01\x7f", 5)) == "a" + mark + "b" + mark + mark);
  CHECK(escaped("\xff<") == mark + "&lt;");
  // Controls of C1 and those that turn the direction of writing.
  CHECK(escaped("a\u009b5m\u202eb") == "a" + mark + "5m" + mark + "b");
  CHECK(escaped("\xc3") == mark);
  // Longer than need be, a surrogate, beyond the last.
  CHECK(escaped("\xc0\xbc") == mark + mark);
  CHECK(escaped("\xed\xa0\x80") == mark + mark + mark);
  CHECK(escaped("\xf4\x90\x80\x80") == mark + mark + mark + mark);
  CHECK(escaped("\xf0\x9f\x98\x80") == "\xf0\x9f\x98\x80");
}

TEST_CASE("html: Markdown is escaped too, and stays on its line") {
  CHECK(escaped_markdown("<b>|`*_[x](y)\n# &") == "&lt;b>\\|\\`\\*\\_\\[x\\](y) # &amp;");
  CHECK(escaped_markdown("> a -> b") == "&gt; a -> b");
  CHECK(escaped_markdown("a\\b") == "a\\\\b");
}

TEST_CASE("html: an address can hold the bytes itself") {
  const auto digits = [](std::string_view bytes) {
    return data_address("text/plain", bytes);
  };
  CHECK(digits("") == "data:text/plain;base64,");
  CHECK(digits("f") == "data:text/plain;base64,Zg==");
  CHECK(digits("fo") == "data:text/plain;base64,Zm8=");
  CHECK(digits("foobar") == "data:text/plain;base64,Zm9vYmFy");
  CHECK(digits("\xff\xfe\xfd") == "data:text/plain;base64,//79");
}
