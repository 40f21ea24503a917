#include "engine/training/parallel/common/team_session.hpp"

#include "engine/collectives/collectives.hpp"
#include "engine/training/parallel/common/newest_position.hpp"

// Members are at most one exchange apart, since none ends without all others having begun
// it; but for those that have just come, which have done none. Whoever is behind takes
// over the whole position of the first that is not.

namespace clade {

team_session::team_session(team& members, handed_over state)
    : team_(members),
      state_(std::move(state)) {}

void team_session::together(const std::function<void(links&)>& work) {
  for (;;) {
    try {
      if (links_ == nullptr)
        meet();
      look_for_others(*links_);
      work(*links_);
      team_.has_done(++done_);
      return;
    } catch (const team_broken&) {
      links_ = nullptr;
    }
  }
}

void team_session::meet() {
  auto& l = team_.form();
  auto newest = find_newest(l, done_, state_.give);
  links_ = &l;
  first_ = l.own() == 0;
  if (!newest)
    return;
  done_ = newest->progress;
  throw position_of_others{std::move(newest->position)};
}

} // namespace clade
