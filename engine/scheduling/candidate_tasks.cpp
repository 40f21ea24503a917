#include "engine/scheduling/candidate_tasks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace clade {

std::vector<task> tasks_of(std::span<const candidate> born,
                           const candidate_task_rules& rules, bool lightest_first) {
  const auto lightest = std::ranges::min_element(born, {}, &candidate::work);
  std::vector<task> tasks;
  for (const auto& c : born)
    tasks.push_back({.id = c.id,
                     .work = c.work * std::max(1U, c.epochs - c.start_epoch),
                     .needs = rules.needs_of ? rules.needs_of(c) : task_needs{},
                     .first = lightest_first && c.id == lightest->id,
                     .alone = rules.alone});
  return tasks;
}

checkpointing checkpoint_left_by(const candidate& c, bool others_start) {
  if (!others_start || c.fold.of != 0)
    return checkpointing::none;
  return c.epochs != 0 ? checkpointing::whole : checkpointing::weights;
}

double weights_wanted_above(const candidate& c, double threshold) {
  return c.fold.of != 0 ? -std::numeric_limits<double>::infinity() : threshold;
}

evaluation dropped_evaluation(candidate_id id, const std::string& who) {
  evaluation e{.id = id, .outcome = outcome::dropped};
  e.reason = "dropped by " + who;
  return e;
}

evaluation refused_evaluation(candidate_id id, const std::string& size) {
  evaluation e{.id = id, .outcome = outcome::out_of_memory};
  e.reason =
      fmt::format("it needs about {}, more than any slot has; it was not tried", size);
  return e;
}

evaluation crashed_evaluation(const lost_lease& lost, const std::string& slot,
                              const std::string& how) {
  evaluation e{.id = lost.id.candidate, .outcome = outcome::crashed};
  e.reason = "two node processes ended while they trained it, the last " + how;
  e.slot = slot;
  e.tries = lost.attempt;
  return e;
}

std::vector<candidate_id> only_elsewhere(std::span<const candidate_id> open,
                                         const schedule& schedule,
                                         const std::function<bool(node_id)>& is_here) {
  std::vector<candidate_id> others;
  std::ranges::copy_if(open, std::back_inserter(others), [&](candidate_id id) {
    const auto members = schedule.members_of(id);
    return !members.empty() && std::ranges::none_of(members, is_here);
  });
  return others;
}

} // namespace clade
