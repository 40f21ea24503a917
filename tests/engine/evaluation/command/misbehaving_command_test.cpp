// Every way in which a script can misbehave is an outcome with a sentence; afterwards the
// same process evaluates the next candidate, and nothing that the script started is left.

#include "engine/evaluation/command/command.hpp"
#include "search_spaces/operators/variation.hpp"
#include "tests/support/scratch.hpp"
#include "tests/support/small_space.hpp"

#include <catch2/catch.hpp>
#include <sys/wait.h>

#include <cerrno>
#include <thread>

using namespace clade;
using namespace std::chrono_literals;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

namespace {

struct misbehaviour {
  const char* name;
  const char* script;
  const char* begins; ///< Outcome and reason.
};

// MARK stands for a word that every process of the test has in its command line.
constexpr misbehaviour every_way[]{
    {"exits 0 without metrics", "true", "invalid: the program answered with no line"},
    {"answers NaN", "echo '{\"a\": NaN}'", "diverged: a is not finite"},
    {"answers half a line", "printf '{\"a\": 0.'",
     "invalid: the program answered with no"},
    {"answers another metric", "echo '{\"b\": 1}'",
     "invalid: the program's answer lacks a"},
    {"writes a gigabyte", "yes MARK | head -c 1000000000; echo; echo '{\"a\": 1}'",
     "succeeded: "},
    {"forks away and ends", "setsid sh -c 'sleep 1000; : MARK' & exit 3",
     "crashed: the program ended with status 3"},
    {"ignores SIGTERM", "trap '' TERM; while :; do sleep 1; : MARK; done",
     "timed out: takes longer than"},
    {"hangs", "sleep 1000; : MARK", "timed out: takes longer than"},
    {"stops itself", "kill -STOP $$; : MARK", "timed out: takes longer than"},
    {"eats memory",
     "python3 -c 'x = []\nwhile True: x.append(b\"x\" * (10 << 20)) # MARK'",
     "out of memory: the program took more than 200 MiB"},
    {"finds the disk full", "echo x > /dev/full || exit 1", "crashed: the program ended"},
    {"changes its directory and removes its own",
     "cd /; rm -r {work_folder}; echo '{\"a\": 1}'", "succeeded: "},
    {"takes its folder's rights", "chmod 0 {work_folder}; echo '{\"a\": 1}'",
     "succeeded: "},
    {"closes its output", "exec >&- 2>&-; exit 4",
     "crashed: the program ended with status 4"},
    {"kills its group", "kill -KILL 0", "crashed: the program was killed (Killed)"},
    {"kills its guard", "kill -KILL $PPID; sleep 1000; : MARK",
     "crashed: the program was killed (Killed)"},
};

bool any_process_has(const std::string& words) {
  std::error_code ended;
  for (std::filesystem::directory_iterator at("/proc", ended), end; at != end && !ended;
       at.increment(ended))
    if (read_text(at->path() / "cmdline").find(words) != std::string::npos)
      return true;
  return false;
}

/// A program that has been killed may take a moment to end if its guard was killed too.
bool all_have_ended(const std::string& words) {
  for (const auto start = std::chrono::steady_clock::now();
       std::chrono::steady_clock::now() - start < 1min; std::this_thread::yield())
    if (!any_process_has(words))
      return true;
  return false;
}

} // namespace

TEST_CASE("command: every way to misbehave is an outcome, and nothing is left") {
  const scratch_folder folder;
  const auto mark = folder.path().string();
  auto random = derive(11, purpose::sample, 0, 0);
  const auto genome = sample(small_space(), small_problem(), random)->child;
  unheard_progress nobody;
  candidate_id id = 0;
  for (const auto& way : every_way) {
    INFO(way.name);
    std::string script = way.script;
    if (const auto at = script.find("MARK"); at != std::string::npos)
      script.replace(at, 4, mark);
    const bool ends = !std::string_view(way.begins).starts_with("timed out");
    const auto fitness = make_command(
        {.params = {.run = {"sh", "-c", script}, .directory = "/", .grace = 100ms},
         .space = small_space(),
         .problem = small_problem(),
         .goal = {.metric = "a"}});
    const auto e = fitness
                       ->evaluate({.id = ++id,
                                   .genome = genome,
                                   .budget = {.epochs = 1,
                                              .time = ends ? 60s : 1s,
                                              .memory_bytes = 200 << 20}},
                                  nobody)
                       .evaluation;
    CHECK_THAT(std::string(to_text(e.outcome)) + ": " + e.reason, StartsWith(way.begins));
    CHECK(::waitpid(-1, nullptr, WNOHANG) == -1);
    CHECK(errno == ECHILD);
    CHECK(all_have_ended(mark));
  }
}

TEST_CASE("command: a program without the right to be run is told of before") {
  const scratch_folder folder;
  write_text(folder.path() / "train.sh", "#!/bin/sh\n");
  const auto fitness =
      make_command({.params = {.run = {"./train.sh"}, .directory = folder.path()},
                    .space = small_space(),
                    .problem = small_problem(),
                    .goal = {}});
  const auto ready = fitness->warm_up();
  REQUIRE_FALSE(ready);
  CHECK_THAT(ready.error().message, Contains("train.sh is no program that may be run"));
}
