#include "engine/scheduling/joining.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace clade {

using namespace std::chrono_literals;

namespace {

constexpr std::size_t most_lost_processes = 1000;

} // namespace

std::string_view device_kind_of(std::string_view slot) {
  auto begin = slot.rfind('/') + 1;
  // Behind a card that several slots share comes the number of its share.
  if (begin > 1 && slot.find(':', begin) == slot.npos)
    begin = slot.rfind('/', begin - 2) + 1;
  slot.remove_prefix(begin);
  return slot.substr(0, slot.find(':'));
}

bool rounds_otherwise(const rounding_slot& one, const rounding_slot& other) {
  return one.rounding != 0 && other.rounding != 0 && one.rounding != other.rounding;
}

std::string why_unfit(const rounding_slot& joining, const rounding_slot& first,
                      const joining_rules& rules) {
  if (rules.portable && rounds_otherwise(joining, first))
    return "training.arithmetic = \"portable\" wants equal bits of all slots, and it "
           "rounds otherwise than "
           + first.slot;
  if (rules.by_team && !first.slot.empty()
      && device_kind_of(joining.slot) != device_kind_of(first.slot))
    return fmt::format(
        "slots that share a training are of one kind of device, and {} is of another",
        first.slot);
  return {};
}

std::chrono::milliseconds heartbeat_for(std::chrono::milliseconds lease) {
  return std::clamp<std::chrono::milliseconds>(lease / 4, 100ms, 1s);
}

std::chrono::milliseconds clock_ahead(std::uint64_t clock_ms, std::int64_t now_ms) {
  if (clock_ms == 0)
    return 0ms;
  constexpr std::uint64_t latest = std::uint64_t{1} << 53;
  return std::chrono::milliseconds(static_cast<std::int64_t>(std::min(clock_ms, latest))
                                   - now_ms);
}

std::vector<lease> leases_kept(schedule& schedule, node_id node,
                               const std::vector<lease>& has, bool back) {
  const auto ended = back ? schedule.reconcile(node, has) : has;
  std::vector<lease> kept;
  for (const auto& l : has)
    if (std::ranges::find(ended, l) == ended.end())
      kept.push_back(l);
    else if (const auto given = schedule.adopt(node, l.id))
      kept.push_back(*given);
  return kept;
}

void lost_processes::remember(std::uint64_t session, node_id node) {
  nodes_.emplace(session, node);
  if (nodes_.size() > most_lost_processes)
    nodes_.erase(std::ranges::min_element(nodes_, {},
                                          [](const auto& lost) { return lost.second; }));
}

std::optional<node_id> lost_processes::forget(std::uint64_t session) {
  const auto lost = nodes_.extract(session);
  return lost ? std::optional(lost.mapped()) : std::nullopt;
}

std::vector<team_roster::change>
team_roster::update(const std::vector<formed_team>& present) {
  std::erase_if(members_, [&](const auto& known) {
    return std::ranges::none_of(
        present, [&](const formed_team& t) { return t.given.id == known.first; });
  });
  std::vector<change> changed;
  for (const auto& t : present) {
    auto& known = members_[t.given.id];
    if (known == t.members)
      continue;
    changed.push_back({.team = t, .goes_on = !known.empty()});
    known = t.members;
  }
  return changed;
}

} // namespace clade
