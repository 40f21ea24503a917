#include "engine/search/bases/cached_proposal.hpp"

namespace clade {

expected<offspring> cached_proposal::make(const breeding_rules& rules,
                                          const breeding& order) const {
  std::call_once(asked_, [&] {
    auto first = order;
    first.attempt = 0;
    first_ = dear_->make(rules, first);
  });
  if (order.attempt == 0 || !*first_)
    return *first_;
  auto random =
      derive(rules.seed, purpose::mutation, order.generation, order.index, order.attempt);
  auto made = mutate(rules.space, rules.problem, (*first_)->child,
                     order.mutation ? *order.mutation : rules.mutation, random);
  const auto& before = (*first_)->changes;
  made.changes.insert(made.changes.begin(), before.begin(), before.end());
  made.from = (*first_)->from;
  return made;
}

} // namespace clade
