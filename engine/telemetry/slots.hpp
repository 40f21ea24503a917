#pragma once

#include "engine/search/core/candidate.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace clade {

/// What a slot does, for people. Durations are as of the question.
/// What a slot does of a training that several do together; rates are of the last second
/// or so.
struct team_share {
  std::uint32_t member = 0;  ///< From 1; 0: it does what it does alone.
  std::uint32_t members = 0; ///< That there are now.
  double steps = 0;          ///< A second.
  double bytes = 0;          ///< Sent to the others, a second.
  double waits = 0;          ///< The share of its time in which it waits for the others.
};

/// "2 of 3, 14.2 steps/s, 3.1 MB/s, waits 12 %"
[[nodiscard]] std::string to_text(const team_share& t);

struct slot_view {
  std::string name;
  std::string label; ///< What the device is.
  bool ready = false;
  bool away = false;         ///< Not connected at present; its leases hold for a while.
  candidate_id training = 0; ///< 0: idle.
  std::uint32_t epoch = 0, epochs = 0;
  std::chrono::milliseconds joined{0};      ///< Ago.
  std::chrono::milliseconds heard{0};       ///< Ago.
  std::chrono::milliseconds at_work{0};     ///< On what it trains.
  std::chrono::milliseconds quarantined{0}; ///< For how long yet.
  team_share team{};
};

/// What went wrong on a slot in this session, also on processes that were replaced.
struct slot_failures {
  std::string slot;
  std::uint64_t count = 0;
  std::string last;
};

struct slots_view {
  std::vector<slot_view> slots;
  std::vector<slot_failures> failures;
  std::size_t waiting = 0; ///< Candidates that no slot has yet.
};

} // namespace clade
