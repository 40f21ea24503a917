#pragma once

#include "tools/views/terminal/pages.hpp"

namespace clade::terminal {

enum class key : std::uint8_t {
  up,
  down,
  page_up,
  page_down,
  home,
  end,
  enter,
  back,
  next,     ///< Page.
  previous, ///< Page.
  page_1,
  page_2,
  page_3,
  page_4,
  page_5,
  page_6,
  best,
  parent,
  step, ///< On to the next generation of a replay.
  quit,
  none, ///< Any other.
};

/// The wish of a key that takes more than to look elsewhere.
struct wish {
  bool quit = false;
  bool step = false;
  candidate_id open = 0; ///< 0: none.
};

/// Moves the place to the first page where it is on one that the run does not have.
void stay_on_pages(place& at, const run_picture& p);

/// Moves the place as the key says, as far as there is something to see.
[[nodiscard]] wish press(place& at, key pressed, const scene& s, extent size);

/// The candidates that the page of candidates shows, by falling id: from `top` on, so
/// many. Also moves the place so that who is chosen is among them.
struct shown_candidates {
  candidate_id top = 0;
  std::size_t count = 0;

  friend bool operator==(const shown_candidates&, const shown_candidates&) = default;
};
[[nodiscard]] shown_candidates candidates_at(place& at, const run_picture& p,
                                             extent size);

} // namespace clade::terminal
