#pragma once

#include "actors/messages/progress.hpp"
#include "engine/report/base/final_phase.hpp"

#include <chrono>
#include <optional>
#include <string>

namespace clade {

/// Progress as people see it while a run goes on: a line for each generation, and on a
/// terminal a last line that is kept up to date. `--json`: a JSON object a line instead.
class live_view {
public:
  struct params {
    std::size_t candidates = 0; ///< In the whole run.
    bool json = false;
    bool terminal = false;
    std::chrono::milliseconds wall_time{0}; ///< The time of the session; 0: no limit.
  };

  explicit live_view(const params& p);

  void update(const run_progress& progress, const slots_view& slots);

  /// Removes the line that is kept up to date; what is printed next starts at its place.
  void clear();

private:
  void show_plan(const final_planned& plan);
  /// A line of JSON, whenever one more of the trainings has ended.
  void tell_final(const run_progress& progress);
  [[nodiscard]] final_phase final_of(const run_progress& progress) const;
  void show_generation(const generation_summary& g, const std::string& failures);
  [[nodiscard]] std::string phase(const run_progress& progress, std::size_t busy) const;
  [[nodiscard]] std::string status(const run_progress& progress, const slots_view& slots);

  params params_;
  std::chrono::steady_clock::time_point start_;
  std::chrono::steady_clock::time_point last_generation_;
  std::uint64_t evaluated_before_ = 0;
  std::string failures_shown_;
  bool first_ = true;
  bool line_open_ = false;
  bool plan_shown_ = false;
  /// Since when the trainings to the end are planned, and how many had ended then.
  std::chrono::steady_clock::time_point planned_;
  std::size_t trained_before_ = 0;
  std::optional<std::size_t> trained_told_;
};

/// "1:02:03", "4:05", "12 s"
[[nodiscard]] std::string to_text(std::chrono::seconds time);

} // namespace clade
