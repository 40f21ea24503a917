#include "tests/tools/machine/made_up_machine.hpp"
#include "tools/machine/devices.hpp"

#include <catch2/catch.hpp>
#include <rapidcheck.h>

#include <set>

using namespace clade;

namespace {

std::string uuids(const std::vector<gpu>& gpus) {
  std::string text;
  for (const auto& g : gpus)
    text +=
        (text.empty() ? "" : " ") + std::to_string(g.index) + "=" + g.uuid.substr(0, 8);
  return text;
}

std::vector<gpu> three() {
  return a_machine(3, 1).gpus;
}

} // namespace

TEST_CASE("devices: CUDA_VISIBLE_DEVICES chooses and orders by number") {
  CHECK(uuids(visible_gpus(three(), "2,0")) == "0=GPU-2932 1=GPU-0932");
  CHECK(uuids(visible_gpus(three(), " 1 ")) == "0=GPU-1932");
}

TEST_CASE("devices: CUDA_VISIBLE_DEVICES chooses by UUID and by its beginning") {
  CHECK(uuids(visible_gpus(three(), a_gpu(1).uuid)) == "0=GPU-1932");
  CHECK(uuids(visible_gpus(three(), "GPU-2932f,GPU-0")) == "0=GPU-2932 1=GPU-0932");
  // A beginning that all have.
  CHECK(visible_gpus(three(), "GPU-").empty());
}

TEST_CASE("devices: an empty CUDA_VISIBLE_DEVICES leaves no GPU") {
  CHECK(visible_gpus(three(), "").empty());
  CHECK(visible_gpus(three(), "-1").empty());
  CHECK(visible_gpus(three(), "NoDevFiles").empty());
}

TEST_CASE("devices: the first entry that names nothing ends the list") {
  CHECK(uuids(visible_gpus(three(), "1,-1,0")) == "0=GPU-1932");
  CHECK(uuids(visible_gpus(three(), "1,7,0")) == "0=GPU-1932");
  CHECK(uuids(visible_gpus(three(), "1,,0")) == "0=GPU-1932");
  CHECK(uuids(visible_gpus(three(), "2,GPU-x,0")) == "0=GPU-2932");
}

TEST_CASE("devices: one that is named twice leaves none, as in CUDA") {
  CHECK(visible_gpus(three(), "0,1,0").empty());
  CHECK(visible_gpus(three(), "0,GPU-0932").empty());
}

TEST_CASE("devices: a MIG device is taken as it is") {
  const auto found = visible_gpus(three(), "MIG-1a,0");
  REQUIRE(found.size() == 2);
  CHECK(found[0] == gpu{.index = 0, .uuid = "MIG-1a", .name = "MIG device"});
  CHECK(found[1].uuid == a_gpu(0).uuid);
}

TEST_CASE("devices: whatever is visible is one of the machine's, once, in order") {
  CHECK(rc::check("no text makes a GPU", [] {
    const auto text = *rc::gen::container<std::string>(
        rc::gen::element('0', '1', '2', '3', ',', '-', 'G', 'P', 'U', ' '));
    std::set<std::string> seen;
    unsigned index = 0;
    for (const auto& g : visible_gpus(three(), text)) {
      RC_ASSERT(g.index == index++);
      RC_ASSERT(seen.insert(g.uuid).second);
    }
    RC_ASSERT(index <= 3U);
  }));
}

TEST_CASE("devices: lists of cores are read and written") {
  using list = std::vector<unsigned>;
  CHECK(parse_cores("0-3,8\n") == list{0, 1, 2, 3, 8});
  CHECK(parse_cores("\t5") == list{5});
  CHECK(cores_text({0, 1, 2, 5, 7, 8}) == "0-2,5,7-8");
  CHECK(cores_text({}).empty());
  for (const char* wrong : {"", "3-1", "a", "1,", "0-99999999", "-1", "1-"})
    CHECK_FALSE(parse_cores(wrong));
  CHECK(rc::check("what is written is read back", [] {
    const auto cores = *rc::gen::nonEmpty(
        rc::gen::container<std::set<unsigned>>(rc::gen::inRange(0U, 300U)));
    const list sorted(cores.begin(), cores.end());
    RC_ASSERT(parse_cores(cores_text(sorted)) == sorted);
  }));
}

TEST_CASE("devices: a machine without limits is all there") {
  const made_up_machine m;
  CHECK(m.look()
        == machine{.cores = {0, 1, 2, 3},
                   .memory_total = 8'000'000ULL * 1024,
                   .memory_free = 6'000'000ULL * 1024});
}

TEST_CASE("devices: masks and control groups take away from a machine") {
  const made_up_machine m;
  m.write("proc/self/status", "Cpus_allowed_list:\t1,3\n");
  m.write("proc/self/cgroup", "0::/job\n");
  m.write("proc/self/mountinfo", "30 25 0:26 / /cg rw - cgroup2 cgroup2 rw\n");
  m.write("cg/job/cpu.max", "150000 100000\n");
  m.write("cg/job/memory.max", "5000\n");
  m.write("cg/job/memory.current", "1000\n");
  CHECK(
      m.look()
      == machine{
          .cores = {1, 3}, .core_quota = 1.5, .memory_total = 5000, .memory_free = 4000});
}

TEST_CASE("devices: a machine that does not say what it has is an error") {
  const made_up_machine m;
  m.write("proc/meminfo", "MemTotal: 5 kB\n");
  CHECK(m.look().error().message
        == (m.root / "proc/meminfo").string() + " does not say how much memory there is");
  m.write("proc/self/status", "Name: clade\n");
  CHECK(m.look().error().message
        == (m.root / "proc/self/status").string()
               + " does not say which cores may be used");
}

TEST_CASE("devices: there is a slot for each core that there is time for") {
  auto m = a_machine(0, 4);
  CHECK(cpu_slots(m) == 4);
  m.core_quota = 2.5;
  CHECK(cpu_slots(m) == 2);
  m.core_quota = 0.3;
  CHECK(cpu_slots(m) == 1);
  m.core_quota = 64;
  CHECK(cpu_slots(m) == 4);
}
