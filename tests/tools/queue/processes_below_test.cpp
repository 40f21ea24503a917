#include "tools/queue/machine/processes_below.hpp"

#include <catch2/catch.hpp>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

using namespace clade;

TEST_CASE("processes: those below one are seen until they have ended") {
  const pid_t there = ::fork();
  if (there == 0) {
    ::pause();
    ::_exit(0);
  }
  const auto seen = [&] {
    const auto all = processes_below(::getpid());
    return std::ranges::find(all, there, &process_seen::pid) != all.end();
  };
  CHECK(seen());
  ::kill(there, SIGKILL);
  ::waitpid(there, nullptr, 0);
  CHECK_FALSE(seen());
}
