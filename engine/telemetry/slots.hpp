#pragma once

#include "engine/search/core/candidate.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace clade {

/// What a slot does, for people. Durations are as of the question.
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
