#pragma once

#include "engine/run/records/record.hpp"
#include "engine/telemetry/picture/slots.hpp"

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace clade {

/// Remembers of each training that a team does for whom the others waited, and how long.
class straggler_watch {
public:
  /// Takes what the view says for what held since the last look. Returns a sentence of each
  /// slot that the others have waited for by now for 10 s, 20 s, 40 s and so on.
  [[nodiscard]] std::vector<std::string> look(const slots_view& view,
                                              std::chrono::milliseconds since);

  /// Returns what to record of a training that is over, and forgets it: the slots that the
  /// others waited for in at least a tenth of its time, and a second.
  [[nodiscard]] std::vector<straggler_seen> end(candidate_id id);

private:
  struct waiting {
    std::chrono::milliseconds time{0}, told{0};
  };
  struct training {
    std::chrono::milliseconds time{0};
    std::map<std::string, waiting> for_slot;
  };

  std::map<candidate_id, training> trainings_;
};

} // namespace clade
