#include "engine/training/parallel/parted/stage_plan.hpp"

#include <catch2/catch.hpp>
#include <rapidcheck.h>

#include <algorithm>
#include <map>

using namespace clade;

using work_list = std::vector<std::uint64_t>;

TEST_CASE("stages: the longest has as little work as can be") {
  CHECK(divide_into_stages(work_list{1, 1, 1, 9, 1, 1}, 2)
        == std::vector<std::size_t>{0, 3, 6});
  CHECK(divide_into_stages(work_list{5, 5, 5, 5}, 4)
        == std::vector<std::size_t>{0, 1, 2, 3, 4});
  CHECK(divide_into_stages(work_list{0, 0, 7}, 3)
        == std::vector<std::size_t>{0, 1, 2, 3});
  CHECK(divide_into_stages(work_list{3, 1, 4, 1, 5}, 1)
        == std::vector<std::size_t>{0, 5});
}

TEST_CASE("stages: each pass comes after those that it waits for") {
  CHECK(rc::check([] {
    const auto stages = *rc::gen::inRange<std::size_t>(1, 9);
    const auto micro_batches = *rc::gen::inRange<std::size_t>(1, 12);
    const auto schedule =
        *rc::gen::element(stage_schedule::gpipe, stage_schedule::one_forward_one_back);
    std::map<std::tuple<std::size_t, std::size_t, bool>, std::uint64_t> done;
    std::vector<std::size_t> under_way(stages), most(stages);
    for (const auto& p : plan_passes(schedule, stages, micro_batches)) {
      const auto after = [&](std::size_t stage, std::size_t micro_batch, bool forward) {
        const auto found = done.find({stage, micro_batch, forward});
        RC_ASSERT(found != done.end());
        RC_ASSERT(found->second <= p.begin);
      };
      if (p.forward && p.stage > 0)
        after(p.stage - 1, p.micro_batch, true);
      if (!p.forward)
        after(p.stage, p.micro_batch, true);
      if (!p.forward && p.stage + 1 < stages)
        after(p.stage + 1, p.micro_batch, false);
      if (p.micro_batch > 0)
        after(p.stage, p.micro_batch - 1, p.forward);
      done[{p.stage, p.micro_batch, p.forward}] = p.end;
      p.forward ? ++under_way[p.stage] : --under_way[p.stage];
      most[p.stage] = std::max(most[p.stage], under_way[p.stage]);
    }
    RC_ASSERT(done.size() == 2 * stages * micro_batches);
    for (std::size_t s = 0; s < stages; ++s)
      RC_ASSERT(most[s]
                == (schedule == stage_schedule::gpipe
                        ? micro_batches
                        : std::min(micro_batches, stages - s)));
  }));
}

TEST_CASE("stages: they idle for (p - 1) / (m + p - 1) of the time") {
  for (const auto schedule :
       {stage_schedule::gpipe, stage_schedule::one_forward_one_back})
    for (const std::size_t p : {1, 2, 4, 8})
      for (const std::size_t m : {1, 4, 16})
        CHECK(idle_share(plan_passes(schedule, p, m), p)
              == Approx(static_cast<double>(p - 1) / static_cast<double>(m + p - 1)));
}
