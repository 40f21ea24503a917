#pragma once

#include "engine/scheduling/task.hpp"

#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace clade {

struct quarantine_params {
  /// So many losses in a row are the slot's fault, not the tasks'.
  std::size_t failures = 3;
  /// How long it then gets none; doubled each time it happens again without a success.
  std::chrono::milliseconds first{5'000};
  std::chrono::milliseconds longest{600'000};
};

/// Slots that lose whatever they are given, or say that they would. Pure: it is told the
/// time.
class quarantine {
public:
  using clock = std::chrono::steady_clock;

  explicit quarantine(const quarantine_params& params = {}) : params_(params) {}

  /// The slot lost this task. An `attempt` of 0: by the task's own doing, which counts
  /// once for each task; otherwise each attempt counts.
  void fail(const std::string& slot, const task_id& id, std::uint32_t attempt,
            clock::time_point now);

  /// The slot says itself that it can do nothing now.
  void rest(const std::string& slot, clock::time_point now);

  /// The slot brought a task to an end.
  void succeed(const std::string& slot) { slots_.erase(slot); }

  /// The task was to blame after all: it counts against no slot.
  void acquit(const task_id& id);

  /// Until when the slot gets nothing, if it gets nothing now.
  [[nodiscard]] std::optional<clock::time_point> until(const std::string& slot,
                                                       clock::time_point now) const;

private:
  struct history {
    std::set<std::pair<task_id, std::uint32_t>> lost; ///< With the attempt, or 0.
    std::chrono::milliseconds pause{0};
    clock::time_point until;
  };

  quarantine_params params_;
  std::map<std::string, history> slots_;
};

} // namespace clade
