#include "tools/launch/outside_command.hpp"

#include <catch2/catch.hpp>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

using namespace clade;

TEST_CASE("outside command: it gets its input and its output is kept") {
  const auto done = run_outside({.command = {"cat"}, .input = std::string(300'000, 'x')});
  REQUIRE(done);
  CHECK(done->status == 0);
  CHECK(done->output == std::string(300'000, 'x'));
}

TEST_CASE("outside command: errors are kept in their order where that is asked for") {
  const auto done = run_outside(
      {.command = {"sh", "-c", "echo a; echo b >&2; echo c"}, .keep_errors = true});
  REQUIRE(done);
  CHECK(done->output == "a\nb\nc\n");
}

TEST_CASE("outside command: its end is a status as a shell has it") {
  CHECK(run_outside({.command = {"sh", "-c", "exit 7"}})->status == 7);
  CHECK(run_outside({.command = {"sh", "-c", "kill -9 $$"}})->status == 137);
}

TEST_CASE("outside command: one that is not there is named") {
  const auto done = run_outside({.command = {"no-such-program"}});
  REQUIRE_FALSE(done);
  CHECK(done.error().kind == error_kind::not_found);
  CHECK(done.error().message == "there is no program no-such-program on this machine");
}

TEST_CASE("outside command: several run at once") {
  // Each ends only once the other has begun.
  char folder[] = "/tmp/clade-test-XXXXXX";
  REQUIRE(::mkdtemp(folder) != nullptr);
  const std::string pipe = std::string(folder) + "/pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  auto reader = outside_command::start({.command = {"cat", pipe}});
  auto writer = outside_command::start(
      {.command = {"sh", "-c", "cat >\"$1\"", "sh", pipe}, .input = "hello"});
  REQUIRE(reader);
  REQUIRE(writer);
  CHECK(reader->finish()->output == "hello");
  CHECK(writer->finish()->status == 0);
  std::filesystem::remove_all(folder);
}

TEST_CASE("outside command: a detached process leads a session and appends to its log") {
  char folder[] = "/tmp/clade-test-XXXXXX";
  REQUIRE(::mkdtemp(folder) != nullptr);
  const auto log = std::filesystem::path(folder) / "log";
  for (int i = 0; i < 2; ++i) {
    const auto process =
        start_detached({"sh", "-c", "cut -d ' ' -f 6 /proc/$$/stat; cat"}, log);
    REQUIRE(process);
    int status = -1;
    REQUIRE(::waitpid(*process, &status, 0) == *process);
    CHECK(status == 0);
    std::ifstream in(log);
    std::string line, last;
    int lines = 0;
    for (; std::getline(in, line); ++lines)
      last = line;
    CHECK(lines == i + 1);
    CHECK(std::stoi(last) == *process);
  }
  CHECK((std::filesystem::status(log).permissions() & std::filesystem::perms::mask)
        == (std::filesystem::perms::owner_read | std::filesystem::perms::owner_write));
  std::filesystem::remove_all(folder);
}
