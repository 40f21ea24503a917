#include "engine/training/parallel/team_session.hpp"

#include "engine/collectives/collectives.hpp"

#include <algorithm>

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
  std::vector<std::uint64_t> done(l.members());
  done[l.own()] = done_;
  all_gather(l, bytes_of<std::uint64_t>(done));
  const auto ahead = std::ranges::max_element(done);
  if (std::ranges::count(done, *ahead) < std::ssize(done)) {
    const auto giver = static_cast<std::size_t>(ahead - done.begin());
    bytes position;
    if (l.own() == giver)
      position = state_.give();
    std::uint64_t size = position.size();
    broadcast(l, giver, std::as_writable_bytes(std::span(&size, 1)));
    position.resize(size);
    broadcast(l, giver, std::as_writable_bytes(std::span(position)));
    if (done_ < *ahead) {
      done_ = *ahead;
      links_ = &l;
      throw position_of_others{std::move(position)};
    }
  }
  links_ = &l;
}

} // namespace clade
