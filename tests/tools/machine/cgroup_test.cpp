#include "tests/tools/machine/made_up_machine.hpp"
#include "tools/machine/cgroup.hpp"

#include <catch2/catch.hpp>

using namespace clade;

namespace {

using paths = std::vector<std::filesystem::path>;

constexpr const char* version_2_mount =
    "30 25 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n";

constexpr const char* version_1_mounts =
    "31 25 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755\n"
    "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw shared:9 - cgroup cgroup rw,cpu,cpuacct\n"
    "34 31 0:31 / /sys/fs/cgroup/cpuset rw,relatime - cgroup cgroup rw,cpuset\n"
    "35 31 0:32 /docker/7b8b /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n";

} // namespace

TEST_CASE("cgroup: the folders of version 2 are the own one and those above it") {
  const auto found = find_cgroups("0::/user.slice/job.scope\n", version_2_mount);
  CHECK(found.unified
        == paths{"/sys/fs/cgroup/user.slice/job.scope", "/sys/fs/cgroup/user.slice",
                 "/sys/fs/cgroup"});
  CHECK(found.cpu.empty());
  CHECK(find_cgroups("0::/\n", version_2_mount).unified == paths{"/sys/fs/cgroup"});
}

TEST_CASE("cgroup: the hierarchies of version 1 are found by their controllers") {
  const auto found = find_cgroups("9:cpuset:/other\n5:cpu,cpuacct:/a/b\n"
                                  "4:memory:/docker/7b8b/deep\n",
                                  version_1_mounts);
  CHECK(found.cpu
        == paths{"/sys/fs/cgroup/cpu,cpuacct/a/b", "/sys/fs/cgroup/cpu,cpuacct/a",
                 "/sys/fs/cgroup/cpu,cpuacct"});
  CHECK(found.memory == paths{"/sys/fs/cgroup/memory/deep", "/sys/fs/cgroup/memory"});
  CHECK(found.unified.empty());
}

TEST_CASE("cgroup: a group outside of what is mounted is the mount itself") {
  CHECK(find_cgroups("4:memory:/docker/7b8b\n", version_1_mounts).memory
        == paths{"/sys/fs/cgroup/memory"});
  CHECK(find_cgroups("4:memory:/elsewhere\n", version_1_mounts).memory
        == paths{"/sys/fs/cgroup/memory"});
  CHECK(find_cgroups("0::/../../sibling\n", version_2_mount).unified
        == paths{"/sys/fs/cgroup"});
}

TEST_CASE("cgroup: texts that make no sense are no groups") {
  CHECK(find_cgroups("", "").unified.empty());
  CHECK(find_cgroups("nonsense\n0:\n::\n", "- - -\na b c - cgroup2\n").unified.empty());
  CHECK(find_cgroups("0::/a\n", "1 2 3 / /x rw - cgroup2\n").unified.empty());
}

TEST_CASE("cgroup: the least limit of version 2 counts, whichever group has it") {
  const made_up_machine m;
  m.write("proc/self/cgroup", "0::/slice/job\n");
  m.write("proc/self/mountinfo", version_2_mount);
  m.write("sys/fs/cgroup/slice/cpu.max", "150000 100000\n");
  m.write("sys/fs/cgroup/slice/memory.max", "1000\n");
  m.write("sys/fs/cgroup/slice/memory.current", "700\n");
  m.write("sys/fs/cgroup/slice/memory.stat", "anon 400\nfile 300\ninactive_file 200\n");
  m.write("sys/fs/cgroup/slice/job/cpu.max", "max 100000\n");
  m.write("sys/fs/cgroup/slice/job/memory.max", "max\n");
  CHECK(read_cgroup_limits(m.root)
        == cgroup_limits{.cores = 1.5, .memory_total = 1000, .memory_free = 500});
  m.write("sys/fs/cgroup/slice/job/cpu.max", "50000 100000\n");
  m.write("sys/fs/cgroup/slice/job/memory.max", "600\n");
  m.write("sys/fs/cgroup/slice/job/memory.current", "650\n");
  CHECK(read_cgroup_limits(m.root)
        == cgroup_limits{.cores = 0.5, .memory_total = 600, .memory_free = 0});
}

TEST_CASE("cgroup: limits of version 1 are read, and none is none") {
  const made_up_machine m;
  m.write("proc/self/cgroup", "5:cpu,cpuacct:/a\n4:memory:/docker/7b8b\n");
  m.write("proc/self/mountinfo", version_1_mounts);
  CHECK(read_cgroup_limits(m.root) == cgroup_limits{});
  m.write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
  m.write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  CHECK(read_cgroup_limits(m.root) == cgroup_limits{});
  m.write("sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us", "250000\n");
  m.write("sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_period_us", "100000\n");
  m.write("sys/fs/cgroup/memory/memory.limit_in_bytes", "5000\n");
  m.write("sys/fs/cgroup/memory/memory.usage_in_bytes", "2000\n");
  m.write("sys/fs/cgroup/memory/memory.stat",
          "inactive_file 1\ntotal_inactive_file 500\n");
  CHECK(read_cgroup_limits(m.root)
        == cgroup_limits{.cores = 2.5, .memory_total = 5000, .memory_free = 3500});
}
