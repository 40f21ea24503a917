#include "engine/search/bases/turns.hpp"

namespace clade {

void turns::tell(const individual& evaluated) {
  ++arrived_;
  told_.emplace(params_.tell_order == "asked" ? evaluated.id : arrived_, evaluated);
  take_due();
}

// Results of the next generation are left alone until this one is closed: the survivors
// that the closing names must not depend on how many of those have come.
void turns::take_due() {
  while (heard_ < heard_before() + params_.population) {
    const auto next = told_.find(heard_ + 1);
    if (next == told_.end())
      return;
    ++heard_;
    take(next->second);
    told_.erase(next);
  }
}

std::uint64_t turns::heard_before() const {
  return changed_heard_ + (closed_ - changed_closed_) * params_.population;
}

candidate_id turns::last_candidate() const {
  return changed_heard_ + (params_.generations - changed_closed_) * params_.population;
}

void turns::place(breeding& order) const {
  const auto since = order.id - 1 - changed_heard_;
  order.generation = changed_closed_ + since / params_.population;
  order.index = since % params_.population;
}

void turns::go_on_with(const evolution_params& params) {
  changed_heard_ = heard_before();
  changed_closed_ = closed_;
  params_ = params;
}

std::optional<generation_closed> turns::closing() const {
  if (finished() || heard_ < heard_before() + params_.population)
    return std::nullopt;
  generation_closed closed{.generation = closed_, .survivors = {}};
  for (const auto& i : population())
    closed.survivors.push_back(i.id);
  return closed;
}

void turns::close() {
  ++closed_;
  take_due();
}

} // namespace clade
