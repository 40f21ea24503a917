#include "engine/evaluation/process/program_group.hpp"
#include "tests/support/scratch.hpp"

#include <catch2/catch.hpp>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <set>

using namespace clade;

namespace {

/// The first group of version 2 in which others may be made here; empty where there is
/// none.
std::filesystem::path a_real_group() {
  for (const std::filesystem::path mount : {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"}) {
    auto name = mount / ("clade-test-" + std::to_string(::getpid()));
    std::error_code failed;
    if (std::filesystem::exists(mount / "cgroup.procs", failed)
        && std::filesystem::exists(mount / "cgroup.controllers", failed)
        && std::filesystem::create_directory(name, failed))
      return name;
  }
  return {};
}

} // namespace

TEST_CASE("program group: without the kernel's files there is none") {
  const scratch_folder base;
  const auto made = program_group::make(base.path(), 1000);
  REQUIRE_FALSE(made);
  CHECK(made.error().kind == error_kind::io);
}

TEST_CASE("program group: what left groups are is told by who has made them") {
  const scratch_folder base;
  const auto own = "clade-program-" + std::to_string(::getpid()) + "-1";
  const pid_t ended = ::fork();
  if (ended == 0)
    ::_exit(0);
  ::waitpid(ended, nullptr, 0);
  for (const auto& name : {own, "clade-program-" + std::to_string(ended) + "-7",
                           std::string("clade-program-x"), std::string("other")})
    std::filesystem::create_directory(base.path() / name);
  remove_left_groups(base.path());
  std::set<std::string> left;
  for (const auto& entry : std::filesystem::directory_iterator(base.path()))
    left.insert(entry.path().filename().string());
  CHECK(left == std::set<std::string>{own, "clade-program-x", "other"});
}

TEST_CASE("program group: the kernel says what it has killed") {
  const scratch_folder base;
  const auto& folder = base.path();
  write_text(folder / "memory.events", "low 0\nmax 7\noom 1\noom_kill 0\n");
  CHECK_FALSE(killed_for_memory(folder));
  write_text(folder / "memory.events", "low 0\nmax 7\noom 1\noom_kill 3\n");
  CHECK(killed_for_memory(folder));
}

TEST_CASE("program group: a program and what it starts are in it, and end with it") {
  const auto base = a_real_group();
  if (base.empty()) {
    WARN("no control groups of version 2 can be made here");
    return;
  }
  {
    auto group = program_group::make(base, 0);
    REQUIRE(group);
    const pid_t child = ::fork();
    if (child == 0) {
      if (!group->enter())
        ::_exit(1);
      if (::fork() == 0)
        ::setsid();
      while (true)
        ::pause();
    }
    const auto members = [&] {
      const auto text = read_text(group->folder() / "cgroup.procs");
      return std::ranges::count(text, '\n');
    };
    while (members() < 2) {
    }
    const auto folder = group->folder();
    { const auto gone = std::move(*group); }
    int status = 0;
    ::waitpid(child, &status, 0);
    CHECK(WTERMSIG(status) == SIGKILL);
    CHECK_FALSE(std::filesystem::exists(folder));
  }
  CHECK(::rmdir(base.c_str()) == 0);
}
