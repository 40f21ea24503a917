#include "engine/search/models/fitted/rung_models.hpp"

#include <algorithm>
#include <cmath>

namespace clade {

rung_models rung_models::fit(const std::vector<std::vector<example>>& by_rung,
                             const std::vector<feature_block>& blocks, std::uint64_t seed,
                             surrogate_params params) {
  rung_models made;
  for (std::size_t rung = 0; rung < by_rung.size(); ++rung) {
    auto examples = by_rung[rung];
    const auto succeeded = std::ranges::count_if(
        examples, [](const example& e) { return std::isfinite(e.fitness); });
    if (static_cast<std::size_t>(succeeded) < fewest_examples)
      continue;
    params.trend = !made.empty();
    if (params.trend)
      for (auto& e : examples)
        e.lower = made.predict(e.features).mean;
    made.levels_.push_back(
        {rung, surrogate::fit(examples, blocks, seed + 0x9e37 * rung, params)});
  }
  return made;
}

prediction rung_models::predict(std::span<const double> features) const {
  auto p = levels_.front().model.predict(features);
  for (std::size_t i = 1; i < levels_.size(); ++i)
    p = levels_[i].model.predict(features, p);
  return p;
}

void rung_models::believe(std::span<const double> features, std::size_t rung) {
  for (auto& l : levels_)
    if (l.rung <= rung)
      l.model.believe(features);
}

} // namespace clade
