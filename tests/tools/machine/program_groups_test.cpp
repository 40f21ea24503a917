#include "tests/support/scratch.hpp"
#include "tests/support/unprivileged.hpp"
#include "tests/tools/machine/made_up_machine.hpp"
#include "tools/machine/program_groups.hpp"

#include <catch2/catch.hpp>

using namespace clade;
using Catch::Matchers::Contains;

namespace {

constexpr const char* mount =
    "30 25 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n";

/// A machine whose group /slice/job belongs to who runs the test, who is not root.
struct given_over {
  unprivileged not_root{};
  made_up_machine m{};

  explicit given_over(const std::string& group = "/slice/job") {
    m.write("proc/self/cgroup", "0::" + group + "\n");
    m.write("proc/self/mountinfo", mount);
    for (const char* name : {"cgroup.procs", "cgroup.subtree_control"})
      m.write(std::string("sys/fs/cgroup/slice/job/") + name, "");
    m.write("sys/fs/cgroup/slice/job/cgroup.controllers", "cpu memory pids\n");
  }

  [[nodiscard]] std::filesystem::path job() const {
    return m.root / "sys/fs/cgroup/slice/job";
  }
};

} // namespace

TEST_CASE("program groups: they are made below a group that was given over") {
  const given_over one;
  CHECK(find_program_groups(one.m.root) == one.job());
  // That of its processes, once it was prepared.
  const given_over again("/slice/job/clade-processes");
  CHECK(find_program_groups(again.m.root) == again.job());
}

TEST_CASE("program groups: what is missing is said") {
  const given_over one;
  one.m.write("sys/fs/cgroup/slice/job/cgroup.controllers", "cpu pids\n");
  CHECK_THAT(find_program_groups(one.m.root).error().message,
             Contains("do not limit memory"));
  const given_over other;
  std::filesystem::permissions(other.job() / "cgroup.procs",
                               std::filesystem::perms::none);
  CHECK_THAT(find_program_groups(other.m.root).error().message,
             Contains("none may be made below"));
  const made_up_machine none;
  CHECK(find_program_groups(none.root).error().message == "version 2 is not there");
}

TEST_CASE("program groups: its processes go into one group, and memory is enabled") {
  const given_over one;
  one.m.write("sys/fs/cgroup/slice/job/cgroup.procs", "12\n");
  one.m.write("sys/fs/cgroup/slice/job/clade-processes/cgroup.procs", "");
  CHECK(prepare_program_groups(one.m.root) == one.job());
  CHECK(read_text(one.job() / "clade-processes" / "cgroup.procs") == "12");
  CHECK(read_text(one.job() / "cgroup.subtree_control") == "+memory");
  // Nothing is left to do where that was done.
  one.m.write("sys/fs/cgroup/slice/job/cgroup.subtree_control", "memory\n");
  one.m.write("sys/fs/cgroup/slice/job/cgroup.procs", "13\n");
  CHECK(prepare_program_groups(one.m.root) == one.job());
  CHECK(read_text(one.job() / "clade-processes" / "cgroup.procs") == "12");
}
