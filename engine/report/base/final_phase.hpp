#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace clade {

/// The trainings to the end that a run does when its search is over, as far as they are.
struct final_phase {
  std::size_t trained = 0, trainings = 0;
  /// In which time as many ended as `paced` says; 0: none did yet.
  double seconds = 0;
  std::size_t paced = 0;
  /// The time that the run has left; none: as long as it takes.
  std::optional<double> limit{};
};

/// Returns the seconds until the last of them ends: at the pace of those that did, and within
/// the run's time; none where nothing tells.
[[nodiscard]] std::optional<double> seconds_left(const final_phase& p);

/// "final: 6 of 15 trainings", or "final: putting the model together".
[[nodiscard]] std::string to_text(const final_phase& p);

/// Says the time too: "final: 6 of 15 trainings, 1 min 40 s left".
[[nodiscard]] std::string text_with_time(const final_phase& p);

} // namespace clade
