#include "engine/scheduling/quarantine.hpp"

#include <algorithm>

namespace clade {

void quarantine::fail(const std::string& slot, const task_id& id, std::uint32_t attempt,
                      clock::time_point now) {
  history& h = slots_[slot];
  h.lost.emplace(id, attempt);
  if (h.lost.size() >= params_.failures)
    rest(slot, now);
}

void quarantine::rest(const std::string& slot, clock::time_point now) {
  history& h = slots_[slot];
  h.lost.clear();
  h.pause = std::clamp(2 * h.pause, params_.first, params_.longest);
  h.until = now + h.pause;
}

void quarantine::acquit(const task_id& id) {
  for (auto& [slot, h] : slots_)
    std::erase_if(h.lost, [&](const auto& l) { return l.first == id; });
}

std::optional<quarantine::clock::time_point>
quarantine::until(const std::string& slot, clock::time_point now) const {
  const auto found = slots_.find(slot);
  if (found == slots_.end() || found->second.until <= now)
    return std::nullopt;
  return found->second.until;
}

} // namespace clade
