#pragma once

#include "engine/search/core/candidate.hpp"

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace clade {

/// The share of a slot in a training that several do together; rates are of the last
/// second or so.
struct team_share {
  std::uint32_t member = 0;  ///< From 1; 0: it does what it does alone.
  std::uint32_t members = 0; ///< That there are now.
  double steps = 0;          ///< A second.
  double bytes = 0;          ///< Sent to the others, a second.
  /// The share of its time in which it waits for the others, of the last few seconds.
  double waits = 0;
  bool awaited = false; ///< The others wait for it (`find_awaited`).
};

/// "2 of 3, 14.2 steps/s, 3.1 MiB/s, waits 12 %", and for whom the others wait:
/// "1 of 3, 14.2 steps/s, 3.1 MiB/s, waits 1 %, the others wait for it"
[[nodiscard]] std::string to_text(const team_share& t);

/// The state of a slot, for people. Durations are as of the question.
struct slot_view {
  std::string name;
  std::string label; ///< The name of the device.
  bool ready = false;
  bool away = false;         ///< Not connected at present; its leases hold for a while.
  candidate_id training = 0; ///< 0: idle.
  std::uint32_t epoch = 0, epochs = 0;
  std::chrono::milliseconds joined{0};      ///< Ago.
  std::chrono::milliseconds heard{0};       ///< Ago.
  std::chrono::milliseconds at_work{0};     ///< On what it trains.
  std::chrono::milliseconds quarantined{0}; ///< For how long yet.
  std::chrono::milliseconds clock_ahead{0}; ///< Its machine's, of the head's.
  team_share team{};
};

/// The failures on a slot in this session, also on processes that were replaced.
struct slot_failures {
  std::string slot;
  std::uint64_t count = 0;
  std::string last;
};

struct slots_view {
  std::vector<slot_view> slots;
  std::vector<slot_failures> failures;
  std::size_t waiting = 0; ///< Candidates that no slot has yet.
  bool held = false;       ///< A person wants nothing to be handed out; not stored.
};

/// Says of each of a team's members, by the shares of time that they wait, whether the
/// others wait for it. That is so where the median of the others waits for at least a
/// fifth of its time more than this one: members that do the same wait equally long for
/// the wire, so that the difference is time spent on this one alone, and each step would
/// be shorter by it if this one were as fast as they are. Less than a fifth is not worth
/// a person's time, and measurements of a second differ by some hundredths. Several
/// members that are slow may be awaited, but not most of a team: the others are fast
/// then.
[[nodiscard]] std::vector<bool> awaited(std::span<const double> waits);

/// Sets `team_share::awaited` in the view, for all teams in it. In a team of `parts`, the
/// first `servers` answer the others, for whom they wait all the time, and are left out;
/// while one of them does another's part too, nobody can be compared.
void find_awaited(slots_view& view, std::uint32_t parts, std::uint32_t servers);

} // namespace clade
