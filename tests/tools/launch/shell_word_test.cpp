#include "tools/launch/outside_command.hpp"
#include "tools/launch/shell_word.hpp"

#include <catch2/catch.hpp>
#include <rapidcheck.h>

#include <vector>

using namespace clade;

TEST_CASE("shell word: what is plain stays plain and the rest is in quotes") {
  CHECK(shell_word("/home/anna/runs/digits-2026") == "/home/anna/runs/digits-2026");
  CHECK(shell_word("cuda:0,cuda:1") == "cuda:0,cuda:1");
  CHECK(shell_word("") == "''");
  CHECK(shell_word("a b") == "'a b'");
  CHECK(shell_word("it's") == "'it'\\''s'");
  CHECK(shell_word("~anna") == "'~anna'");
  CHECK(shell_word("A=1") == "'A=1'");
  CHECK(shell_word("$(reboot)") == "'$(reboot)'");
  CHECK(shell_word("\xc3\xa9") == "'\xc3\xa9'");
}

TEST_CASE("shell word: a shell reads every word as it was") {
  // Bytes that mean something to a shell, and any others.
  const auto letter = rc::gen::oneOf(
      rc::gen::elementOf(std::string("'\"\\$`!*?~#&;|<>(){}[]= \t\n\r-a\x7f\xff")),
      rc::gen::map(rc::gen::inRange(1, 256), [](int c) { return static_cast<char>(c); }));
  const auto word = rc::gen::container<std::string>(letter);
  CHECK(rc::check([&] {
    const auto words = *rc::gen::container<std::vector<std::string>>(word);
    std::string script = "printf '%s\\0' begin";
    std::string meant("begin\0", 6);
    for (const auto& w : words) {
      script += " " + shell_word(w);
      meant += w + '\0';
    }
    const auto said = run_outside({.command = {"/bin/sh"}, .input = script + "\n"});
    RC_ASSERT(said.has_value());
    RC_ASSERT(said->status == 0);
    RC_ASSERT(said->output == meant);
  }));
}
