#pragma once

#include "engine/collectives/team.hpp"
#include "engine/training/loop/training_steps.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>

namespace clade {

/// Compares positions with the members, which have just met: returns where this one goes
/// on, nothing if it is where it stands. `done`: the exchanges that it has done, or will
/// have at that place. Blocks; throws `team_broken`.
using meeting =
    std::function<std::optional<position_of_others>(links&, std::uint64_t& done)>;

/// By which each member has the whole position after each exchange, and gives it
/// (`handed_over::give`): whoever is behind takes over that of the first that is not.
/// Members are at most one exchange apart, since none ends without all others having begun
/// it; but for those that have just come, which have done none.
[[nodiscard]] meeting of_whole_positions(std::function<bytes()> give);

/// A training's place in a team: it forms the team anew when it is broken up, and takes
/// part in exchanges. Whoever is lost, or comes, the exchanges have the results that they
/// would have had.
class team_session : public step_team {
public:
  team_session(team& members, meeting meet);

  [[nodiscard]] bool alone() const override { return false; }
  [[nodiscard]] bool
  out_of_time(std::chrono::steady_clock::time_point deadline) override {
    deadline_ = deadline;
    return stops_;
  }
  [[nodiscard]] verdict agree(const std::function<verdict()>& decide) override;
  /// In the last formation that this member met.
  [[nodiscard]] bool is_first() const override { return members_ > 0 && own_ == 0; }
  [[nodiscard]] std::uint64_t exchanges() const override { return done_; }
  void go_on_after_exchanges(std::uint64_t done) override { done_ = done; }
  [[nodiscard]] std::optional<position_of_others> newest() override;

  /// Does `work` with all members, and counts an exchange. If the team is broken up
  /// meanwhile, the present members do it again from the beginning: until its last exchange
  /// it changes nothing that `handed_over::give` gives.
  void together(const std::function<void(links&)>& work);
  /// Does `work`, which nobody does again.
  template<class Work>
  auto once(const Work& work) {
    auto& l = linked();
    try {
      return work(l);
    } catch (const team_broken&) {
      links_ = nullptr;
      throw;
    }
  }
  /// Everybody gets the losses, of which each has its own, from the member that `owner`
  /// names, and whether the time is up, as member 0 has it. Returns whether member 0 said
  /// `marks`.
  bool gather_losses(links& l, std::span<float> losses,
                     const std::function<std::size_t(std::size_t)>& owner,
                     bool marks = false);
  /// For who watches.
  void has_done() { team_.has_done(++done_); }

  [[nodiscard]] std::size_t shares() const { return team_.shares(); }
  /// The number of this member, and that of all, as they last met; 0 of 0 before.
  [[nodiscard]] std::size_t own() const { return own_; }
  [[nodiscard]] std::size_t members() const { return members_; }

private:
  void form();
  [[nodiscard]] links& linked();

  team& team_;
  meeting meet_;
  links* links_ = nullptr;                   ///< Null: the team is to be formed.
  std::optional<position_of_others> newest_; ///< Until it is taken over.
  std::uint64_t done_ = 0;
  std::size_t own_ = 0, members_ = 0;
  std::chrono::steady_clock::time_point deadline_ =
      std::chrono::steady_clock::time_point::max();
  bool stops_ = false;
};

} // namespace clade
