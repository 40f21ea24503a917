#include "engine/search/bases/model_guided.hpp"

namespace clade {

model_guided::model_guided(const evolution_params& params, std::uint64_t seed)
    : steady(params, seed) {
  moments_.push_back({0, std::make_shared<const std::vector<individual>>()});
}

void model_guided::hear(const individual& evaluated) {
  auto all = *moments_.back().known;
  all.push_back(evaluated);
  thin(all);
  moments_.push_back(
      {evaluated.id, std::make_shared<const std::vector<individual>>(std::move(all))});
}

void model_guided::bear(const candidate& c) {
  ++born_;
  in_training_.emplace(c.id, unheard{c.genome, c.epochs, c.zero_cost});
}

bool model_guided::may_order() const {
  return ordered() < initial || born_ == ordered();
}

void model_guided::forget_before(std::uint64_t heard) {
  for (; told_ < heard && moments_.size() > 1; ++told_) {
    moments_.pop_front();
    in_training_.erase(moments_.front().latest);
  }
}

model_guided::history model_guided::known_to(const breeding& order) {
  if (order.id > params().in_flight)
    forget_before(order.id - params().in_flight);
  return moments_.front().known;
}

std::vector<model_guided::unheard> model_guided::in_training() const {
  std::vector<unheard> all;
  for (const auto& [id, one] : in_training_)
    all.push_back(one);
  return all;
}

} // namespace clade
