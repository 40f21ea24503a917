#include "tools/queue/processes/bare_log.hpp"

#include <catch2/catch.hpp>

using namespace clade;

namespace {

/// Returns what is told of a log that comes byte by byte.
std::string bare(const std::string& log) {
  bare_log shown;
  std::string out;
  for (const char c : log)
    out += shown.add({&c, 1});
  return out + shown.finish();
}

} // namespace

TEST_CASE("bare log: colours are left out and bars of progress have lines of their own") {
  CHECK(bare("a\x1b[31mred\x1b[0m \x1b[1;38:2:1:2:3mb\x1b[m\n") == "ared b\n");
  CHECK(bare("1 %\r2 %\r\n3") == "1 %\n2 %\n3");
  CHECK(bare("end\r") == "end\n");
  CHECK(bare("\r\x1b[32mok\n") == "\nok\n");
}

TEST_CASE("bare log: all else stays for whoever makes it plain") {
  for (const char* other : {"\x1b[2J", "\x1b]0;title\x07", "\x1b", "\x1b[31", "\x1b[3x",
                            "\x1b\x1b[K", "two\nlines\n"})
    CHECK(bare(other) == other);
  const std::string endless = "\x1b[" + std::string(1000, '1');
  CHECK(bare(endless) == endless);
}
