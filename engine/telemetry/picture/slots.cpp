#include "engine/telemetry/picture/slots.hpp"

#include "engine/report/base/format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>

namespace clade {

std::string to_text(const team_share& t) {
  char rates[64];
  std::snprintf(rates, sizeof(rates), ", %.1f steps/s, ", t.steps);
  return fmt::format("{} of {}{}{}/s, waits {} %{}", t.member, t.members, rates,
                     size_text(static_cast<std::uint64_t>(t.bytes)),
                     std::lround(100 * t.waits),
                     t.awaited ? ", the others wait for it" : "");
}

std::vector<bool> awaited(std::span<const double> waits) {
  constexpr double clear = 0.2;
  std::vector<bool> all(waits.size());
  if (waits.size() < 2)
    return all;
  std::vector<double> sorted(waits.begin(), waits.end());
  std::ranges::sort(sorted);
  // The lower one of an even number.
  const auto middle = (waits.size() - 2) / 2;
  for (std::size_t i = 0; i < waits.size(); ++i) {
    const bool comes_before = waits[i] <= sorted[middle];
    all[i] = sorted[comes_before ? middle + 1 : middle] - waits[i] >= clear;
  }
  return all;
}

void find_awaited(slots_view& view, std::uint32_t parts, std::uint32_t servers) {
  std::map<candidate_id, std::vector<team_share*>> teams;
  for (auto& s : view.slots) {
    s.team.awaited = false;
    if (s.training != 0 && s.team.member > servers
        && (servers == 0 || s.team.members == parts))
      teams[s.training].push_back(&s.team);
  }
  for (const auto& [id, members] : teams) {
    std::vector<double> waits;
    for (const auto* m : members)
      waits.push_back(m->waits);
    const auto found = awaited(waits);
    for (std::size_t i = 0; i < members.size(); ++i)
      members[i]->awaited = found[i];
  }
}

} // namespace clade
