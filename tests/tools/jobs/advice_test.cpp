#include "tools/jobs/advice.hpp"
#include "tools/jobs/schedule_length.hpp"

#include <catch2/catch.hpp>

using namespace clade;
using Catch::Matchers::Contains;

namespace {

constexpr std::uint64_t gib = std::uint64_t{1} << 30;

machine a_machine(std::size_t gpus = 0) {
  return {.gpus = std::vector<gpu>(gpus),
          .cores = {0, 1, 2, 3},
          .memory_total = 16 * gib,
          .memory_free = 10 * gib};
}

std::string chosen(const worker_advice& a, wanted_workers wanted, std::size_t jobs) {
  const auto n = choose_workers(a, wanted, jobs);
  return n ? std::to_string(*n) : n.error().message;
}

} // namespace

TEST_CASE("advice: the scarcest thing decides how many jobs run at once") {
  CHECK(advise_workers(a_machine(), 0).workers == 4);
  CHECK(advise_workers(a_machine(), 4 * gib).workers == 2);
  CHECK(advise_workers(a_machine(), 100 * gib).workers == 1);
  CHECK(advise_workers(a_machine(1), 0).workers == 1);
  const auto text = to_text(advise_workers(a_machine(3), 4 * gib));
  CHECK_THAT(text, Contains("cores         4  4"));
  CHECK_THAT(text, Contains("memory        2  10.0 GiB free, 4.0 GiB a job"));
  CHECK_THAT(text, Contains("GPUs          3  3"));
  CHECK_THAT(text, Contains("--max-workers 2"));
}

TEST_CASE("advice: more workers than are of use are refused unless one insists") {
  const auto a = advise_workers(a_machine(), 0);
  CHECK(chosen(a, {}, 8) == "4");
  CHECK(chosen(a, {}, 3) == "3");
  CHECK(chosen(a, {.sequential = true}, 8) == "1");
  CHECK(chosen(a, {.most = 2}, 8) == "2");
  CHECK(chosen(a, {.most = 8}, 3) == "3");
  CHECK(chosen(a, {.most = 8}, 8)
        == "--max-workers 8: this machine has 4 cores; write --max-workers 4, or "
           "--oversubscribe to insist (clade jobs advise says why)");
  CHECK(chosen(a, {.most = 8, .oversubscribe = true}, 8) == "8");
}

TEST_CASE("advice: workers are slots") {
  CHECK(slots_for(3, a_machine()) == "cpu:3");
  CHECK(slots_for(2, a_machine(3)) == "cuda:0*1,cuda:1*1");
  CHECK(slots_for(5, a_machine(2)) == "cuda:0*3,cuda:1*2");
}

TEST_CASE("schedules: a job begins on the first slot that is free") {
  const std::vector<double> seconds{4, 3, 2, 2};
  CHECK(schedule_length(seconds, 1) == 11);
  CHECK(schedule_length(seconds, 2) == 6);
  CHECK(shortest_schedule(seconds, 2) == 5.5);
  CHECK(shortest_schedule(seconds, 8) == 4);
  CHECK(shortest_schedule({}, 2) == 0);
  CHECK(schedule_length({}, 2) == 0);
}
