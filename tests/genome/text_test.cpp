#include "genome/base/text.hpp"

#include <catch2/catch.hpp>
#include <rapidcheck/catch.h>

#include <array>
#include <limits>
#include <set>
#include <vector>

namespace clade {
namespace {

TEST_CASE("text: a number is parsed where the whole text is one") {
  CHECK(parse_number<unsigned>("12") == 12);
  CHECK(parse_number<int>("-12") == -12);
  CHECK(parse_number<double>("1.5e3") == 1500);
  for (const auto* text : {"", " 12", "12 ", "+12", "-12", "12a", "1.5", "4294967296"})
    CHECK_FALSE(parse_number<std::uint32_t>(text));
  rc::prop("and is what was written", [](std::int64_t n) {
    RC_ASSERT(parse_number<std::int64_t>(std::to_string(n)) == n);
  });
}

TEST_CASE("text: texts and numbers are joined") {
  CHECK(joined(std::vector<std::string>{}).empty());
  CHECK(joined(std::vector<std::string>{"a"}) == "a");
  CHECK(joined(std::vector<std::string>{"a", "b", "c"}) == "a, b, c");
  CHECK(joined(std::set<std::uint64_t>{3, 1, 2}, " ") == "1 2 3");
  CHECK(joined(std::vector<std::string_view>{"", "b"}, "|") == "|b");
  CHECK(joined(std::vector<std::uint64_t>{1, 2}, " + ", numbered) == "#1 + #2");
  CHECK(enumerated(std::vector<const char*>{"a", "b", "c"}, " and ") == "a, b and c");
  CHECK(enumerated(std::vector<const char*>{"a", "b"}, " or ") == "a or b");
  CHECK(enumerated(std::vector<const char*>{"a"}, " or ") == "a");
}

TEST_CASE("text: counts are said with their commas and in singular or plural") {
  CHECK(with_commas(0) == "0");
  CHECK(with_commas(999) == "999");
  CHECK(with_commas(1000) == "1,000");
  CHECK(with_commas(std::numeric_limits<std::uint64_t>::max())
        == "18,446,744,073,709,551,615");
  CHECK(counted(1, "row") == "1 row");
  CHECK(counted(0, "row") == "0 rows");
  CHECK(counted(12345, "entry", "entries") == "12,345 entries");
}

TEST_CASE("text: a text of a list is the value of an enumeration at its place") {
  enum class size : std::uint8_t { small, large };
  constexpr std::array texts{"small", "large"};
  CHECK(parse_one_of<size>(texts, "small") == size::small);
  CHECK(parse_one_of<size>(texts, "large") == size::large);
  CHECK_FALSE(parse_one_of<size>(texts, "larg"));
  CHECK_FALSE(parse_one_of<size>(texts, ""));
}

TEST_CASE("text: texts are trimmed, cut and moved by lines") {
  CHECK(trimmed(" \t a b\r\n") == "a b");
  CHECK(trimmed(" \n").empty());
  CHECK(trimmed(" a \n", " ") == "a \n");
  CHECK(first_line_of("one\ntwo") == "one");
  CHECK(first_line_of("one") == "one");
  CHECK(indented("a\n\nb", 2) == "  a\n\n  b");
  CHECK(indented("a\n", 1) == " a\n");
  CHECK(indented("", 4).empty());
}

} // namespace
} // namespace clade
