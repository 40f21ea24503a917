#include "tests/support/scratch.hpp"
#include "tools/doctor/device_checks.hpp"
#include "tools/doctor/fleet_checks.hpp"
#include "tools/doctor/machine_checks.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace clade;
using namespace std::chrono_literals;
using Catch::Contains;

namespace {

constexpr std::uint64_t gib = std::uint64_t{1} << 30;

disk_speed good_disk() {
  return {.record = 400us, .bytes_per_second = 5e8, .free_bytes = 100 * gib};
}

slots_view view_of(slot_view s) {
  return {.slots = {std::move(s)}, .failures = {}, .waiting = 0};
}

slot_view well() {
  return {.name = "box/cpu:0", .label = "a core", .ready = true, .heard = 300ms};
}

} // namespace

TEST_CASE("doctor: the worst finding decides") {
  CHECK(worst({}) == health::good);
  CHECK(worst({{"a", health::good, "x"}, {"b", health::poor, "y", "z"}}) == health::poor);
  CHECK(worst({{"a", health::broken, "x", "z"}, {"b", health::poor, "y", "z"}})
        == health::broken);
}

TEST_CASE("doctor: each finding is a line and its advice another") {
  const std::vector<finding> all{{"disk", health::good, "quick"},
                                 {"clock", health::poor, "wrong", "set it"}};
  const auto text = to_text(all);
  CHECK(std::ranges::count(text, '\n') == 3);
  CHECK_THAT(text, Contains("disk") && Contains("good") && Contains("-> set it"));
  const auto read = nlohmann::json::parse(to_json(all));
  CHECK(read["healthy"] == true);
  CHECK(read["findings"][0]["advice"].is_null());
  CHECK(read["findings"][1]["is"] == "poor");
  CHECK(nlohmann::json::parse(to_json({{"a", health::broken, "x"}}))["healthy"] == false);
}

TEST_CASE("doctor: a disk is judged by its space, its place and its speed") {
  CHECK(judge(good_disk(), "runs").is == health::good);
  auto disk = good_disk();
  disk.record = 50ms;
  CHECK_THAT(judge(disk, "runs").advice, Contains("waits for its record"));
  disk.of_network = true;
  CHECK_THAT(judge(disk, "runs").advice, Contains("another machine"));
  disk.free_bytes = gib / 100;
  const auto full = judge(disk, "runs");
  CHECK(full.is == health::broken);
  CHECK_THAT(full.advice, Contains("make room"));
}

TEST_CASE(
    "doctor: the disk of a folder that is yet to be made is that of the one above") {
  const scratch_folder folder;
  const auto f = check_disk(folder.path() / "runs" / "of" / "mine");
  CHECK(f.is != health::broken);
  CHECK_THAT(f.found, Contains(folder.path().string()) && Contains("free"));
  CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("doctor: a machine without control groups is said to watch instead") {
  const scratch_folder root;
  const auto f = check_control_groups(root.path());
  CHECK(f.is == health::poor);
  CHECK_THAT(f.advice, Contains("watched"));
}

TEST_CASE("doctor: it is said whether programs can be kept from keys") {
  const auto f = check_isolation();
  CHECK_THAT(f.found, Contains("the keys of their run"));
  CHECK((f.is == health::good) == f.advice.empty());
}

TEST_CASE("doctor: what this machine has is said") {
  for (const auto& f : check_resources())
    CHECK_FALSE(f.found.empty());
  for (const auto& f : check_limits())
    CHECK((f.is == health::good || !f.advice.empty()));
  const auto clock = check_clock();
  CHECK((clock.is == health::good || !clock.advice.empty()));
}

TEST_CASE(
    "doctor: two slots that take as long as one after the other hinder each other") {
  CHECK(judge(parallel_times{.in_turns = 1, .at_once = .52}, "cpu:0, cpu:1").is
        == health::good);
  const auto slow = judge(parallel_times{.in_turns = 1, .at_once = .95}, "cpu:0, cpu:1");
  CHECK(slow.is == health::poor);
  CHECK_THAT(slow.found, Contains("cpu:0, cpu:1") && Contains("0.95"));
}

TEST_CASE("doctor: LibTorch and the driver are held against the GPUs") {
  const device_report for_cpu{.torch = "2.13.0", .cuda = ""};
  const device_report for_cuda{.torch = "2.13.0", .cuda = "13.0"};
  CHECK_FALSE(judge_driver(for_cpu, 0, ""));
  CHECK(judge_driver(for_cpu, 1, "13.0")->is == health::poor);
  CHECK(judge_driver(for_cuda, 1, "13.1")->is == health::good);
  CHECK(judge_driver(for_cuda, 1, "12.8")->is == health::broken);
  CHECK(judge_driver(for_cuda, 1, "")->is == health::good);
}

TEST_CASE("doctor: a report of a device comes back as it was, and nothing else does") {
  const device_report sent{
      .torch = "2.13.0", .cuda = "13.0", .per_second = 1e10, .failure = "no \"memory\""};
  const auto read = parse_device_report(to_json(sent));
  REQUIRE(read);
  CHECK(read->torch == sent.torch);
  CHECK(read->cuda == sent.cuda);
  CHECK(read->per_second == sent.per_second);
  CHECK(read->failure == sent.failure);
  for (const char* wrong : {"", "[]", "{}", "null", R"({"torch": 1})", "\xff"})
    CHECK_FALSE(parse_device_report(wrong));
}

TEST_CASE("doctor: workers are judged by what the head hears of them") {
  CHECK(worst(judge(view_of(well()))) == health::good);
  auto away = well();
  away.away = true;
  CHECK(worst(judge(view_of(away))) == health::broken);
  auto silent = well();
  silent.heard = 20s;
  CHECK(worst(judge(view_of(silent))) == health::broken);
  auto set_aside = well();
  set_aside.quarantined = 1min;
  CHECK(worst(judge(view_of(set_aside))) == health::poor);
  CHECK(worst(judge({})) == health::broken);
}

TEST_CASE("doctor: clocks that differ are said, and by how much") {
  auto late = well();
  late.clock_ahead = -1min;
  const auto f = judge(view_of(late)).front();
  CHECK(f.is == health::poor);
  CHECK_THAT(f.found, Contains("behind"));
  late.clock_ahead = 25h;
  CHECK(judge(view_of(late)).front().is == health::broken);
}

TEST_CASE("doctor: keys and ports are looked at before anybody needs them") {
  const scratch_folder folder;
  CHECK(check_keys(folder.path()).is == health::broken);
  CHECK(check_port("nonsense").is == health::broken);
  CHECK(check_port("127.0.0.1:0").is == health::good);
  CHECK(check_workers(folder.path()).front().is == health::broken);
  for (const auto& f : check_heads("nonsense", folder.path()))
    CHECK(f.is == health::broken);
}
