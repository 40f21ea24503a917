#include "tools/jobs/advice.hpp"

#include "engine/report/base/format.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace clade {

namespace {

/// "2 cores", "21.3 GiB free, 1.0 GiB a job (memory)".
std::string text_of(const worker_limit& l) {
  return l.what == "memory" ? fmt::format("memory for {} ({})", l.workers, l.there)
                            : fmt::format("{} {}", l.there, l.what);
}

const worker_limit& tightest(const worker_advice& advice) {
  return *std::ranges::min_element(advice.limits, {}, &worker_limit::workers);
}

} // namespace

worker_advice advise_workers(const machine& m, std::uint64_t memory_each) {
  const auto each = memory_each == 0 ? assumed_memory : memory_each;
  const std::size_t cores = cpu_slots(m);
  worker_advice advice;
  advice.limits.push_back({"cores", std::to_string(cores), cores});
  if (m.memory_free > 0)
    advice.limits.push_back(
        {"memory",
         fmt::format("{} free, {} a job{}", size_text(m.memory_free), size_text(each),
                     memory_each == 0 ? ", assumed" : ""),
         std::max<std::size_t>(1, static_cast<std::size_t>(m.memory_free / each))});
  if (!m.gpus.empty())
    advice.limits.push_back({"GPUs", std::to_string(m.gpus.size()), m.gpus.size()});
  advice.workers = std::max<std::size_t>(1, tightest(advice).workers);
  return advice;
}

std::string to_text(const worker_advice& advice) {
  using enum table::align;
  table rows({left, right, left});
  rows.add({"", "workers", "there is"});
  for (const auto& l : advice.limits)
    rows.add({l.what, std::to_string(l.workers), l.there});
  return fmt::format(
      "{}\n  --max-workers {} is as many as are of use here; more need --oversubscribe. "
      "--memory SIZE says\n  what a job takes, and limits it.\n",
      rows.to_text(2), advice.workers);
}

expected<std::size_t> choose_workers(const worker_advice& advice,
                                     const wanted_workers& wanted, std::size_t jobs) {
  if (wanted.sequential)
    return 1;
  if (!wanted.most)
    return std::min(jobs, advice.workers);
  const auto asked = std::min<std::size_t>(*wanted.most, jobs);
  if (asked <= advice.workers || wanted.oversubscribe)
    return asked;
  return fail(error_kind::invalid_input,
              fmt::format("--max-workers {}: this machine has {}; write --max-workers "
                          "{}, or --oversubscribe to insist (clade jobs advise says why)",
                          *wanted.most, text_of(tightest(advice)), advice.workers));
}

std::string slots_for(std::size_t workers, const machine& m) {
  const auto gpus = m.gpus.size();
  if (gpus == 0)
    return fmt::format("cpu:{}", workers);
  std::string slots;
  for (std::size_t g = 0; g < std::min(gpus, workers); ++g)
    slots += fmt::format("{}{}*{}", slots.empty() ? "cuda:" : ",cuda:", g,
                         workers / gpus + (g < workers % gpus ? 1 : 0));
  return slots;
}

} // namespace clade
