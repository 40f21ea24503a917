#include "search_spaces/toml/parse_toml.hpp"
#include "tests/support/small_stack.hpp"

#include <rapidcheck/catch.h>

#include <sstream>

using namespace clade;

namespace {

std::string times(std::size_t n, std::string_view part) {
  std::string all;
  for (std::size_t i = 0; i < n; ++i)
    all += part;
  return all;
}

std::size_t depth_of(const toml::node& node) {
  std::size_t deepest = 0;
  if (const auto* table = node.as_table())
    for (const auto& [key, inner] : *table)
      deepest = std::max(deepest, 1 + depth_of(inner));
  if (const auto* list = node.as_array())
    for (const auto& inner : *list)
      deepest = std::max(deepest, 1 + depth_of(inner));
  return deepest;
}

std::string message_of(std::string_view text) {
  const auto parsed = parse_toml(text, "x.toml");
  return parsed ? "no error" : parsed.error().message;
}

constexpr const char* too_deep = ": tables, lists or the parts of a dotted key lie more "
                                 "than 32 deep in each other";

} // namespace

TEST_CASE("toml: what nests too deep is refused with its line, in each way to nest") {
  const auto n = GENERATE(33, 257, 40'000, 400'000);
  const auto count = static_cast<std::size_t>(n);
  test::on_small_stack([&] {
    for (const std::string& text :
         {"\n\n" + times(count, "a.") + "b = 1", "\n\n[" + times(count, "a.") + "b]\n",
          "\n\n[[" + times(count, "a.") + "b]]\n",
          "\n\n" + times(count, "\"a\".") + "b = 1",
          "\n\n" + times(count, "a . ") + "b = 1",
          "x = '''\n\n" + std::string("''' # \"\n") + "y = 1\nz = {" + times(count, "a.")
              + "b = 1}",
          "\n\na = " + times(count, "[") + times(count, "]"),
          "\n\na = " + times(count, "{a = ")})
      CHECK(parse_toml(text, "x.toml").has_value() == false);
    CHECK(message_of("\n\n" + times(count, "a.") + "b = 1")
          == "x.toml:3" + std::string(too_deep));
  });
}

TEST_CASE("toml: tables in keys in headers are counted together") {
  const auto text = [](std::size_t header, std::size_t inner) {
    return "[" + times(header, "h.") + "h]\n" + times(inner, "k.k = {") + "z = 1"
           + times(inner, "}") + "\n";
  };
  CHECK(message_of(text(3, 3)) == "no error");
  CHECK(message_of(text(20, 10)) == "x.toml:2" + std::string(too_deep));
  CHECK(message_of(text(29, 0)) == "no error");
}

TEST_CASE("toml: dots and brackets in texts, comments and numbers are no depth") {
  const std::string dots = times(100, ".[{");
  for (const std::string& text :
       {"a = \"" + dots + "\"", "a = '" + dots + "'", "a = \"\"\"\n" + dots + "\n\"\"\"",
        "a = '''" + dots + "'''", "# " + dots + "\na = 1", "a = 1 # " + dots,
        "\"" + dots + "\" = 1", "a = \"\\\"" + dots + "\"",
        "a = \"\"\"x\\\"\"\"" + dots + "\"\"\"", "a = '''''" + dots + "'''''",
        "a = [" + times(1000, "1.5, [2.5], ") + "]",
        std::string("[a.b]\nc = 1.5\n[[d]]\n[[d]]\n")})
    CHECK(message_of(text) == "no error");
  CHECK(
      message_of("a = '''\n\n'''\n" + times(40, "b.") + "c = 1").starts_with("x.toml:4"));
}

TEST_CASE("toml: a header without a name is refused before the parser sees it") {
  for (const char* text : {"[=]", "[.a]", "\xef\xbb\xbf[=]", "\xc2\xa0[=]", "[[[a]]]",
                           "[\xc3\xa9]", "[[=]]", "[ , ]", "[#]", "[[ .a]]", "[\n]"})
    CHECK(message_of(text)
          == "x.toml:1: the name of a section stands in brackets, such as [data]; other "
             "letters than a to z need quotes");
  for (const char* text : {"[", "[ ", "[[", "[[a", "[]", "[[]]", "[a", "[ [a]]", "[a.]"})
    CHECK(message_of(text).starts_with("x.toml:1: "));
  CHECK(message_of("[\"\xc3\xa9\"]\n[[ 'b' ]]\n[ c . d ]\n[-_]\n") == "no error");
}

TEST_CASE("toml: separators of lines of Unicode are for texts and comments") {
  for (const std::string mark : {"\xc2\x85", "\xe2\x80\xa8", "\xe2\x80\xa9"}) {
    for (const std::string& text :
         {"a = [" + mark + "1]", "a = " + mark, mark + "a = 1", "[a" + mark + "]",
          "a = {" + mark + "b = 1}", "a = 1" + mark + "b = 1"})
      CHECK(message_of(text)
            == "x.toml:1: an invisible separator of lines stands outside of quotes; "
               "remove it, or begin a new line");
    CHECK(message_of("a = '" + mark + "' # " + mark) == "no error");
  }
}

TEST_CASE("toml: a list that a brace closes is refused before the parser sees it") {
  for (const char* text : {"a = [}", "a = [1, }]", "a = {b = [ } }", "a = [[}]]"})
    CHECK(message_of(text) == "x.toml:1: what [ opens is not closed by ] before a }");
  CHECK(message_of("a = [{b = [1]}, {}]") == "no error");
}

TEST_CASE("toml: a text that is too large is refused unparsed") {
  CHECK(message_of("#" + std::string(most_toml_bytes, ' '))
        == "x.toml: is larger than 4 MiB");
}

TEST_CASE("toml: whatever parses is no deeper than its limit") {
  rc::prop("pieces of TOML in any order", [] {
    const auto pieces =
        *rc::gen::container<std::vector<std::string>>(rc::gen::element<std::string>(
            "a.", "b", " = ", "[", "]", "{", "}", ",", "\n", "\"", "'", "'''", "\"\"\"",
            "1.5", "#", "\\", "\r\n", "a.a.a.a.a.a.a.a.", "{a = ", "[[", "]]", "}}}}"));
    std::string text;
    for (const auto& piece : pieces)
      text += piece;
    const auto parsed = parse_toml(text, "x");
    // A list of tables counts for one.
    if (parsed)
      RC_ASSERT(depth_of(*parsed) <= 2 * deepest_toml);
  });
}
