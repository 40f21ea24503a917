#include "engine/evaluation/final_members.hpp"

#include <algorithm>

namespace clade {

std::vector<trained_member> members_of(const run_state& run) {
  std::vector<trained_member> all;
  for (const auto& f : run.finals)
    all.push_back(
        {.id = f.who.id, .genome = *f.who.genome, .fold = f.fold, .bag = f.bag});
  std::ranges::sort(all, {}, &trained_member::id);
  for (const auto& i : run.best)
    if (std::ranges::find(all, i.id, &trained_member::id) == all.end())
      all.push_back({.id = i.id, .genome = *i.genome, .bag = i.id});
  const auto champion = std::ranges::find(all, run.best.front().id, &trained_member::id);
  if (champion->fold.of < 2)
    std::rotate(all.begin(), champion, champion + 1);
  return all;
}

std::vector<examination> complete_examinations(std::vector<examination> all,
                                               const composition* composed) {
  const auto of = [&](const std::string& subject) {
    return std::ranges::find(all, subject, &examination::subject);
  };
  if (const auto champion = of("champion");
      composed != nullptr && champion != all.end()
      && of(composed->tested.subject) == all.end()) {
    auto same = *champion;
    same.id = 0;
    same.subject = composed->tested.subject;
    same.metrics.insert(same.metrics.end(), composed->model.metrics.begin(),
                        composed->model.metrics.end());
    all.push_back(std::move(same));
  }
  std::ranges::sort(all, {}, &examination::subject);
  return all;
}

} // namespace clade
