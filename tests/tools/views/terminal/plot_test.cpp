#include "tools/views/terminal/plot.hpp"

#include <catch2/catch.hpp>

using namespace clade::terminal;

namespace {

plot::frame a_frame(glyphs with) {
  return {.place = {.row = 0, .column = 0, .rows = 6, .columns = 24},
          .x = {0, 4},
          .y = {0, 1},
          .left = "first",
          .right = "last",
          .glyphs = with};
}

std::string drawn(const plot& p) {
  canvas c({.rows = 6, .columns = 24});
  p.draw(c);
  return to_text(c);
}

} // namespace

TEST_CASE("plot: a line goes from value to value") {
  plot p(a_frame(glyphs::ascii));
  p.line({{0, 0}, {2, 1}, {4, 0.5}}, {.look = style::plain, .ascii = U'*'});
  CHECK(drawn(p) == R"(1.0000|       *****
      |     ***   *****
      |  ****         *
0.0000|***
      +----------------
       first       last
)");
}

TEST_CASE("plot: Braille has eight dots in a cell") {
  plot p(a_frame(glyphs::unicode));
  p.line({{0, 0}, {2, 1}, {4, 0.5}}, {});
  CHECK(drawn(p) == R"(1.0000┤      ⢀⡴⠋⠓⠦⣄
      │    ⢀⡴⠋    ⠈⠙⠲⢤⣀
      │  ⣠⠞⠉          ⠈
0.0000┤⣠⠞⠁
      └────────────────
       first       last
)");
}

TEST_CASE("plot: a band is all between its lines and lines are seen on it") {
  plot p(a_frame(glyphs::ascii));
  p.band({{0, 0}, {4, 0}}, {{0, 0.2}, {4, 1}}, {.look = style::faint, .ascii = U':'});
  p.line({{0, 0.7}, {4, 0.7}}, {.look = style::good, .ascii = U'*'});
  CHECK(drawn(p) == R"(1.0000|            ::::
      |****************
      |::::::::::::::::
0.0000|::::::::::::::::
      +----------------
       first       last
)");
}

TEST_CASE("plot: values that are all equal are in its middle, and a point is a dot") {
  auto f = a_frame(glyphs::ascii);
  f.x = {3, 3};
  f.y = {0.5, 0.5};
  plot p(f);
  p.line({{3, 0.5}}, {});
  CHECK(drawn(p) == R"(0.5250|
      |
      |        *
0.4750|
      +----------------
       first       last
)");
}

TEST_CASE("plot: values beyond its range lie on its edge") {
  plot p(a_frame(glyphs::ascii));
  p.dots({{-7, 9}, {99, -1e300}}, {.look = style::plain, .ascii = U'o'});
  CHECK(drawn(p) == R"(1.0000|o
      |
      |
0.0000|               o
      +----------------
       first       last
)");
}

TEST_CASE("plot: a place too small for it is no error") {
  auto f = a_frame(glyphs::unicode);
  f.place = {.row = 0, .column = 0, .rows = 1, .columns = 3};
  plot p(f);
  p.line({{0, 0}, {4, 1}}, {});
  canvas c({.rows = 1, .columns = 3});
  p.draw(c);
  CHECK(c.size() == extent{.rows = 1, .columns = 3});
}

TEST_CASE("plot: bars are as long as their share") {
  CHECK(bar(0.5, 4, glyphs::unicode) == "██░░");
  CHECK(bar(0, 4, glyphs::ascii) == "....");
  CHECK(bar(7, 4, glyphs::ascii) == "####");
}
