#include "engine/evaluation/process/program.hpp"
#include "tests/support/scratch.hpp"

#include <catch2/catch.hpp>
#include <sys/wait.h>

using namespace clade;
using namespace std::chrono_literals;
using Catch::Matchers::Contains;
using Catch::Matchers::EndsWith;

namespace {

program_params a_shell(const std::string& script) {
  return {.command = {"sh", "-c", script}, .directory = "/"};
}

program_result ran(const program_params& params) {
  auto done = run_program(params);
  if (!done)
    FAIL(done.error().message);
  return std::move(*done);
}

} // namespace

TEST_CASE("program: its environment has what is given in the place of ours") {
  auto params = a_shell("echo $PATH $CLADE_NUMBER");
  params.environment = {"PATH=/nowhere", "CLADE_NUMBER=7"};
  params.command.front() = "/bin/sh";
  CHECK(ran(params).output == "/nowhere 7\n");
}

TEST_CASE("program: each line is told of as it comes") {
  const scratch_folder folder;
  auto params = a_shell("echo one; echo; until [ -e heard ]; do sleep 0.01; done; "
                        "printf 'two\nhalf'");
  params.directory = folder.path();
  std::vector<std::string> lines;
  params.on_line = [&](std::string_view line) {
    lines.emplace_back(line);
    write_text(folder.path() / "heard", "");
  };
  CHECK(ran(params).output == "one\n\ntwo\nhalf");
  CHECK(lines == std::vector<std::string>{"one", "", "two", "half"});
}

TEST_CASE("program: a line of more than a MiB is not told of") {
  auto params = a_shell("head -c 3000000 /dev/zero; echo; echo next");
  std::vector<std::string> lines;
  params.on_line = [&](std::string_view line) { lines.emplace_back(line); };
  CHECK_THAT(ran(params).output, EndsWith("\nnext\n"));
  CHECK(lines == std::vector<std::string>{"next"});
}

TEST_CASE("program: its log has what it writes, up to a size") {
  const scratch_folder folder;
  auto params = a_shell("echo out; echo err >&2");
  params.log = folder.path() / "log";
  CHECK(ran(params).log_trouble.empty());
  const auto text = read_text(params.log);
  CHECK_THAT(text, Contains("out\n"));
  CHECK_THAT(text, Contains("err\n"));
  // Another try appends.
  CHECK(ran(params).log_trouble.empty());
  CHECK(read_text(params.log).size() == 2 * text.size());
  params = a_shell("yes | head -c 1000000");
  params.log = folder.path() / "short";
  params.log_bytes = 1000;
  CHECK(ran(params).log_trouble.empty());
  CHECK_THAT(read_text(params.log),
             EndsWith("\nclade: this log is full; what the program "
                      "writes further is left out\n"));
  CHECK(read_text(params.log).size() < 1100);
}

TEST_CASE("program: one that writes nothing has no log") {
  const scratch_folder folder;
  auto params = a_shell("true");
  params.log = folder.path() / "log";
  ran(params);
  CHECK_FALSE(std::filesystem::exists(params.log));
}

TEST_CASE("program: a log that cannot be written is told of, and ends nothing") {
  auto params = a_shell("echo out; exit 3");
  params.log = "/dev/full";
  auto done = ran(params);
  CHECK(WEXITSTATUS(done.status) == 3);
  CHECK(done.log_trouble == "/dev/full: No space left on device");
  params.log = "/nowhere/log";
  done = ran(params);
  CHECK(done.output == "out\n");
  CHECK(done.log_trouble == "/nowhere/log: No such file or directory");
}

TEST_CASE("program: one that saves when it is told to end has its grace") {
  auto params = a_shell("trap 'sleep 0.6; echo saved; exit 0' TERM; "
                        "echo there; while :; do sleep 0.01; done");
  bool wanted = true;
  params.grace = 60s;
  params.wanted = [&] { return wanted; };
  params.on_line = [&](std::string_view) { wanted = false; };
  const auto done = ran(params);
  CHECK(done.end == program_end::unwanted);
  CHECK(WIFEXITED(done.status));
  CHECK(WEXITSTATUS(done.status) == 0);
  CHECK(done.output == "there\nsaved\n");
}
