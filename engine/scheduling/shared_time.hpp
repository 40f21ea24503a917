#pragma once

#include "engine/search/core/candidate.hpp"

#include <chrono>
#include <map>

namespace clade {

/// The time that the trainings at the end of a run have together. All that were not
/// handed out yet share the rest of it, in turn on each slot. Pure: it is told the time.
class shared_time {
public:
  using clock = std::chrono::steady_clock;

  /// A training that may take so long from now on, with the others. It is ended before it
  /// is submitted again.
  void submit(candidate_id id, std::chrono::milliseconds time, clock::time_point now);

  /// Returns how long a training of these may take that is handed out now, to one of so
  /// many slots; at least a second, unless all of them had less. It may have been handed
  /// out before, to a slot that was lost.
  [[nodiscard]] std::chrono::milliseconds hand_out(candidate_id id, std::size_t slots,
                                                   clock::time_point now);

  [[nodiscard]] bool has(candidate_id id) const { return trainings_.contains(id); }

  /// It is evaluated, or nobody wants it any more.
  void end(candidate_id id) { trainings_.erase(id); }

private:
  struct training {
    std::chrono::milliseconds time;
    clock::time_point submitted;
    bool handed_out = false;
  };

  std::map<candidate_id, training> trainings_;
};

} // namespace clade
