#include "tools/views/terminal/canvas.hpp"
#include "tools/views/terminal/sheet.hpp"

#include <catch2/catch.hpp>

#include <clocale>

using namespace clade::terminal;

TEST_CASE("canvas: what falls outside is left out") {
  canvas c({.rows = 2, .columns = 5});
  CHECK(c.write(0, 3, "abc") == 5);
  CHECK(c.write(7, 0, "abc") == 3);
  c.put(-1, 0, U'x');
  c.put(1, 5, U'x');
  CHECK(c.write(1, 0, "abcdef", style::plain, 2) == 2);
  CHECK(to_text(c) == "   ab\nab\n");
}

TEST_CASE("canvas: no text can send the terminal a command") {
  canvas c({.rows = 1, .columns = 40});
  c.write(0, 0,
          "a\x1b[2Jb\nc\x7f"
          "d\xff"
          "e\xc0\xafz\xe2\x82");
  CHECK(to_text(c) == "a?[2Jb?c?d?e??z??\n");
}

TEST_CASE("canvas: C1 controls in UTF-8 are no commands either") {
  canvas c({.rows = 1, .columns = 10});
  c.write(0, 0,
          "a\xc2\x9b"
          "2Jb");
  CHECK(to_text(c) == "a?2Jb\n");
}

TEST_CASE("canvas: a wide character takes two columns or none") {
  const std::string before = std::setlocale(LC_CTYPE, nullptr);
  REQUIRE(std::setlocale(LC_CTYPE, "C.UTF-8") != nullptr);
  canvas c({.rows = 1, .columns = 6});
  CHECK(columns_of("\u6f22\u5b57") == 4);
  CHECK(c.write(0, 1, "\u6f22\u5b57\u6f22") == 5);
  CHECK(c.at(0, 1).glyph == U'\u6f22');
  CHECK(c.at(0, 2).glyph == 0);
  CHECK(to_text(c) == " \u6f22\u5b57\n");
  std::setlocale(LC_CTYPE, before.c_str());
}

TEST_CASE("sheet: numbers are flush right and the last column is cut") {
  sheet s({{"id", true}, {"name"}, {"size", true}, {"rest"}});
  s.add({"#7", "a", "12", "whatever"});
  s.add({"#12345", "bcdef", "1,024", "and more"});
  s.mark(2, style::bad);
  canvas c({.rows = 3, .columns = 28});
  s.draw(c, {.row = 0, .column = 0, .rows = 3, .columns = 28}, 0);
  CHECK(to_text(c)
        == "    id  name    size  rest\n"
           "    #7  a         12  whatev\n"
           "#12345  bcdef  1,024  and mo\n");
  CHECK(c.at(1, 0).look == style::chosen);
  CHECK(c.at(2, 17).look == style::bad);
  CHECK(c.at(2, 0).look == style::plain);
}

TEST_CASE("sheet: rows are skipped and those beyond the place left out") {
  sheet s({{"n", true}});
  for (int i = 1; i <= 9; ++i)
    s.add({std::to_string(i)});
  canvas c({.rows = 5, .columns = 4});
  s.draw(c, {.row = 1, .column = 1, .rows = 3, .columns = 3}, std::nullopt, 4);
  CHECK(to_text(c) == "\n n\n 5\n 6\n\n");
}
