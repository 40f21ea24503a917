#include "engine/telemetry/picture/stragglers.hpp"

#include "engine/report/base/format.hpp"
#include "genome/base/text.hpp"

#include <fmt/format.h>

#include <set>

namespace clade {

namespace {

using namespace std::chrono_literals;

constexpr std::chrono::milliseconds first_told = 10s, least_recorded = 1s;
constexpr int least_share = 10; ///< The share of a training's time, as its divisor.

std::string seconds_text(std::chrono::milliseconds time) {
  return duration_text(std::chrono::duration<double>(time).count());
}

} // namespace

std::vector<std::string> straggler_watch::look(const slots_view& view,
                                               std::chrono::milliseconds since) {
  std::vector<std::string> said;
  std::set<candidate_id> seen;
  for (const auto& s : view.slots) {
    if (s.training == 0 || s.team.member == 0)
      continue;
    auto& t = trainings_[s.training];
    if (seen.insert(s.training).second)
      t.time += since;
    if (!s.team.awaited)
      continue;
    auto& w = t.for_slot[s.name];
    w.time += since;
    if (w.time < (w.told == 0ms ? first_told : 2 * w.told))
      continue;
    w.told = w.time;
    said.push_back(fmt::format("{}: the others wait for {}, for {} of {} by now",
                               numbered(s.training), s.name, seconds_text(w.time),
                               seconds_text(t.time)));
  }
  return said;
}

std::vector<straggler_seen> straggler_watch::end(candidate_id id) {
  std::vector<straggler_seen> all;
  const auto found = trainings_.extract(id);
  if (!found)
    return all;
  const auto& t = found.mapped();
  const auto number = [](std::chrono::milliseconds time) {
    return static_cast<std::uint64_t>(time.count());
  };
  for (const auto& [slot, w] : t.for_slot)
    if (w.time >= least_recorded && w.time * least_share >= t.time)
      all.push_back(
          {.id = id, .slot = slot, .waited_ms = number(w.time), .of_ms = number(t.time)});
  return all;
}

} // namespace clade
