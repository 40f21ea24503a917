#pragma once

#include "engine/training/loop/training_steps.hpp"
#include "engine/training/parallel/common/team_session.hpp"

#include <chrono>
#include <span>

namespace clade {

/// The steps of a member of a team that has the whole network, whose shares of a step any
/// other member can do.
class session_steps : public training_steps {
public:
  [[nodiscard]] bool
  out_of_time(std::chrono::steady_clock::time_point deadline) override {
    deadline_ = deadline;
    return stops_;
  }
  [[nodiscard]] verdict agree(const std::function<verdict()>& decide) override;
  [[nodiscard]] bool is_first() const override { return session_.is_first(); }
  [[nodiscard]] std::uint64_t exchanges() const override { return session_.done(); }
  void go_on_after_exchanges(std::uint64_t done) override { session_.go_on_after(done); }
  // Nothing is drawn that is not keyed by the step.
  [[nodiscard]] std::vector<bytes> random_states() const override { return {}; }
  void set_random_states(std::span<const bytes>) override {}

protected:
  session_steps(network_module& net, const step_rules& rules, team& members,
                handed_over state)
      : training_steps(net),
        rules_(rules),
        session_(members, std::move(state)) {}

  /// Everybody gets the losses of all shares, of which each has those of its own, and
  /// whether the time is up, as member 0 has it.
  void gather_losses(links& l, std::span<float> losses);

  step_rules rules_;
  team_session session_;

private:
  std::chrono::steady_clock::time_point deadline_ =
      std::chrono::steady_clock::time_point::max();
  bool stops_ = false;
};

} // namespace clade
