#pragma once

#include "engine/collectives/team.hpp"
#include "engine/training/loop/training_steps.hpp"

#include <cstdint>
#include <functional>

namespace clade {

/// The work of one member together with the others, exchange after exchange, the same
/// ones in the same order. Whoever is lost, or comes, the exchanges have the results that
/// they would have had.
class team_session {
public:
  team_session(team& members, handed_over state);

  /// Does `work` with all members. If the team is formed anew meanwhile, the present
  /// members do it again from the beginning: until its last exchange it changes nothing
  /// that `handed_over::give` gives. Throws `position_of_others` where this member was
  /// behind others, and `task_dropped`.
  void together(const std::function<void(links&)>& work);

  [[nodiscard]] std::size_t shares() const { return team_.shares(); }
  /// In the last formation that this member met.
  [[nodiscard]] bool is_first() const { return first_; }
  [[nodiscard]] std::uint64_t done() const { return done_; }
  /// At the position after so many.
  void go_on_after(std::uint64_t done) { done_ = done; }

private:
  void meet();

  team& team_;
  handed_over state_;
  links* links_ = nullptr; ///< Null: the team is to be formed.
  std::uint64_t done_ = 0; ///< Exchanges.
  bool first_ = false;
};

} // namespace clade
