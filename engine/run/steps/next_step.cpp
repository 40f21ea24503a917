// `resolve` goes over the brood by id. A candidate is final once all smaller ids are
// accepted: one that differs from them all is accepted, while one that comes after a gap,
// or after one that is bred again, is held, since what fills the gap may still turn out
// to be its equal. A network that equals an accepted one will never pass, gap or not, and
// is bred again at once: fewer rounds, same result.
#include "engine/run/steps/next_step.hpp"

#include <algorithm>

namespace clade {

next_steps next_step(const run_state& state, candidate_id ordered) {
  next_steps next;
  if (!state.started || state.finished)
    return next;
  for (const auto id : state.copies) {
    const auto original = state.open.at(id).equal_to;
    if (!state.open.contains(original))
      next.copy.push_back({.id = id, .original = original});
  }
  if (state.plan) {
    next.finish = !state.next_final() && state.open.empty();
    for (std::size_t i = 0; auto due = state.next_final(i); ++i)
      if (due->id > ordered)
        next.finals.push_back(std::move(*due));
    return next;
  }
  next.close = state.search->closing();
  next.breed = state.search->ask(ordered);
  const bool over = state.search->finished();
  next.plan = over && state.rules.final_stage.wanted();
  next.finish = over && !next.plan;
  return next;
}

resolution resolve(const run_state& state, std::vector<bred> brood) {
  std::sort(brood.begin(), brood.end(),
            [](const bred& a, const bred& b) { return a.order.id < b.order.id; });
  resolution result;
  known_networks siblings;
  auto next_id = state.born + 1;
  for (auto& b : brood) {
    const bool prefix = b.order.id == next_id;
    const auto training = training_of(b.made);
    const auto known = state.known.find(training);
    const auto equal = known != 0 ? known : siblings.find(training);
    // A genome that a person gives stays the same, however often it is looked at.
    const bool last = b.order.attempt + 1 >= max_breeding_attempts
                      || b.order.how == breeding::kind::given
                      || b.order.how == breeding::kind::train_on;
    if (equal != 0 && !last) {
      ++b.order.attempt;
      b.order.looked_at = std::move(b.made.looked_at);
      result.again.push_back(std::move(b.order));
    } else if (!prefix) {
      result.held.push_back(std::move(b));
    } else {
      b.made.equal_to = equal;
      siblings.insert(training, b.made.id);
      result.accepted.push_back(std::move(b.made));
      ++next_id;
    }
  }
  return result;
}

} // namespace clade
