#include "engine/training/parallel/parted/stage_plan.hpp"

#include <algorithm>
#include <limits>

namespace clade {
namespace {

constexpr std::uint64_t forward_time = 1, back_time = 2;

/// Returns the passes of one stage, in its order.
std::vector<stage_pass> passes_of(stage_schedule schedule, std::size_t stage,
                                  std::size_t stages, std::size_t micro_batches) {
  const auto ahead = schedule == stage_schedule::gpipe
                         ? micro_batches
                         : std::min(micro_batches, stages - stage);
  std::vector<stage_pass> all;
  std::size_t forward = 0;
  for (std::size_t back = 0; back < micro_batches; ++back) {
    for (; forward < std::min(back + ahead, micro_batches); ++forward)
      all.push_back({.stage = stage, .micro_batch = forward, .forward = true});
    all.push_back({.stage = stage, .micro_batch = back, .forward = false});
  }
  return all;
}

} // namespace

// least[s][n]: the longest stage where the first n layers are in s stages.
std::vector<std::size_t> divide_into_stages(std::span<const std::uint64_t> work,
                                            std::size_t stages) {
  constexpr auto never = std::numeric_limits<std::uint64_t>::max();
  const auto layers = work.size();
  std::vector<std::vector<std::uint64_t>> least(
      stages + 1, std::vector<std::uint64_t>(layers + 1, never));
  auto begins = std::vector(stages + 1, std::vector<std::size_t>(layers + 1));
  least[0][0] = 0;
  for (std::size_t s = 1; s <= stages; ++s)
    for (std::size_t n = s; n <= layers; ++n) {
      std::uint64_t last = 0;
      for (auto begin = n; begin-- > s - 1;) {
        last += work[begin];
        const auto longest = std::max(last, least[s - 1][begin]);
        if (longest < least[s][n]) {
          least[s][n] = longest;
          begins[s][n] = begin;
        }
      }
    }
  std::vector<std::size_t> bounds(stages + 1, layers);
  for (auto s = stages; s > 0; --s)
    bounds[s - 1] = begins[s][bounds[s]];
  return bounds;
}

// Each stage does what it has to do in its order, as soon as it can.
std::vector<stage_pass> plan_passes(stage_schedule schedule, std::size_t stages,
                                    std::size_t micro_batches) {
  std::vector<std::vector<stage_pass>> left;
  for (std::size_t s = 0; s < stages; ++s)
    left.push_back(passes_of(schedule, s, stages, micro_batches));
  constexpr auto never = std::numeric_limits<std::uint64_t>::max();
  const std::vector<std::uint64_t> none(micro_batches, never);
  std::vector forward_ends(stages, none), back_ends(stages, none);
  std::vector<std::size_t> next(stages);
  std::vector<std::uint64_t> free(stages);
  const auto ready = [&](const stage_pass& p) {
    if (p.forward)
      return p.stage == 0 ? 0 : forward_ends[p.stage - 1][p.micro_batch];
    return p.stage + 1 == stages ? forward_ends[p.stage][p.micro_batch]
                                 : back_ends[p.stage + 1][p.micro_batch];
  };
  std::vector<stage_pass> all;
  while (all.size() < 2 * stages * micro_batches) {
    auto first = never;
    std::size_t chosen = 0;
    for (std::size_t s = 0; s < stages; ++s) {
      if (next[s] == left[s].size())
        continue;
      const auto waits = ready(left[s][next[s]]);
      if (waits != never && std::max(waits, free[s]) < first) {
        first = std::max(waits, free[s]);
        chosen = s;
      }
    }
    auto& p = left[chosen][next[chosen]++];
    p.begin = first;
    p.end = first + (p.forward ? forward_time : back_time);
    free[chosen] = p.end;
    (p.forward ? forward_ends : back_ends)[chosen][p.micro_batch] = p.end;
    all.push_back(p);
  }
  return all;
}

double idle_share(std::span<const stage_pass> passes, std::size_t stages) {
  std::uint64_t busy = 0, end = 0;
  for (const auto& p : passes) {
    busy += p.end - p.begin;
    end = std::max(end, p.end);
  }
  return 1 - static_cast<double>(busy) / static_cast<double>(end * stages);
}

} // namespace clade
