#include "engine/scheduling/shared_time.hpp"

#include <algorithm>

namespace clade {

using namespace std::chrono_literals;

void shared_time::submit(candidate_id id, std::chrono::milliseconds time,
                         clock::time_point now) {
  trainings_.emplace(id, training{.time = time, .submitted = now});
}

std::chrono::milliseconds shared_time::hand_out(candidate_id id, std::size_t slots,
                                                clock::time_point now) {
  constexpr std::chrono::milliseconds least = 1s;
  auto& one = trainings_.at(id);
  one.handed_out = false;
  const auto waiting = std::ranges::count_if(
      trainings_, [](const auto& t) { return !t.second.handed_out; });
  one.handed_out = true;
  const auto places = static_cast<std::ptrdiff_t>(std::max<std::size_t>(1, slots));
  const auto in_turn = (waiting + places - 1) / places;
  const auto left =
      one.time
      - std::chrono::duration_cast<std::chrono::milliseconds>(now - one.submitted);
  return std::max(std::min(least, one.time), left / in_turn);
}

} // namespace clade
