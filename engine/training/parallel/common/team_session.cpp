#include "engine/training/parallel/common/team_session.hpp"

#include "engine/collectives/collectives.hpp"
#include "engine/training/parallel/common/newest_position.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace clade {

namespace {

// The values that member 0 sends beside its losses.
constexpr float time_is_up = 1, is_marked = 2;

} // namespace

meeting of_whole_positions(std::function<bytes()> give) {
  return [give = std::move(give)](links& l, std::uint64_t& done) {
    std::optional<position_of_others> ahead;
    if (auto newest = find_newest(l, done, give)) {
      done = newest->progress;
      ahead.emplace(std::move(newest->position));
    }
    return ahead;
  };
}

team_session::team_session(team& members, meeting meet)
    : team_(members),
      meet_(std::move(meet)) {}

void team_session::form() {
  while (links_ == nullptr) {
    try {
      auto& l = team_.form();
      own_ = l.own();
      members_ = l.members();
      newest_ = meet_(l, done_);
      links_ = &l;
      stops_ = false;
    } catch (const team_broken&) {
      continue;
    }
  }
}

links& team_session::linked() {
  form();
  if (newest_)
    throw team_broken("this member goes on elsewhere than it stands");
  return *links_;
}

std::optional<position_of_others> team_session::newest() {
  form();
  return std::exchange(newest_, std::nullopt);
}

void team_session::together(const std::function<void(links&)>& work) {
  for (;;) {
    auto& l = linked();
    try {
      look_for_others(l);
      work(l);
      has_done();
      return;
    } catch (const team_broken&) {
      links_ = nullptr;
    }
  }
}

bool team_session::gather_losses(links& l, std::span<float> losses,
                                 const std::function<std::size_t(std::size_t)>& owner,
                                 bool marks) {
  const auto block = losses.size() + 1;
  std::vector<float> all(block * l.members());
  auto* own = all.data() + l.own() * block;
  std::ranges::copy(losses, own + 1);
  const bool late = std::chrono::steady_clock::now() > deadline_;
  own[0] = late ? time_is_up : marks ? is_marked : 0;
  all_gather(l, bytes_of<float>(all));
  for (std::size_t i = 0; i < losses.size(); ++i)
    losses[i] = all[owner(i) * block + 1 + i];
  stops_ = all[0] == time_is_up;
  return all[0] == is_marked;
}

verdict team_session::agree(const std::function<verdict()>& decide) {
  std::optional<verdict> decided;
  together([&](links& l) {
    if (l.own() == 0 && !decided)
      decided = decide();
    auto shared = static_cast<std::byte>(decided.value_or(verdict::goes_on));
    broadcast(l, 0, std::span(&shared, 1));
    decided = static_cast<verdict>(shared);
  });
  return *decided;
}

} // namespace clade
