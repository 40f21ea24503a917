// Steps of a member of a team whose members train alone and average what they have every
// few steps (McMahan et al., "Communication-Efficient Learning of Deep Networks from
// Decentralized Data", 2017; Stich, "Local SGD Converges Fast and Communicates Little",
// 2019). These few steps are a round. The values that the optimiser keeps and the
// statistics of normalisations are averaged too, so that a round depends on nothing but
// the averages that it begins with and its batches, and any member can do the round of
// any share.
#include "engine/collectives/collectives.hpp"
#include "engine/training/parallel/common/distributed_training.hpp"
#include "engine/training/parallel/common/shares.hpp"
#include "engine/training/parallel/common/team_session.hpp"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

namespace clade {
namespace {

class local_steps final : public training_step, public whole_position {
public:
  local_steps(network_module& net, const step_rules& rules, std::uint32_t average_every,
              std::shared_ptr<team_session> session);

  at::Tensor step(const batch& b, double learning_rate) override;
  [[nodiscard]] std::optional<at::Tensor> settle() override { return end_round(); }
  [[nodiscard]] std::uint64_t pending() const override { return round_.size(); }
  void take_over_weights() override { round_.clear(); }
  [[nodiscard]] bool keeps(weight_average& average) override {
    average_ = &average;
    return true;
  }

private:
  struct round_step {
    batch examples;
    double learning_rate = 0;
  };

  [[nodiscard]] at::Tensor end_round();
  void train(std::size_t share, const at::Tensor& start);
  void take_average(const at::Tensor& sum, std::uint64_t steps_before);

  std::uint32_t average_every_;
  std::shared_ptr<team_session> session_;
  tensor_list averaged_; ///< Parameters, statistics, moments; as the round begins.
  std::vector<round_step> round_;
  /// The row of each share after the round; undefined: not done.
  tensor_list rows_;
  std::vector<float> losses_; ///< The loss of each share, over the round's examples.
  weight_average* average_ = nullptr;
};

local_steps::local_steps(network_module& net, const step_rules& rules,
                         std::uint32_t average_every,
                         std::shared_ptr<team_session> session)
    : whole_position(net, rules),
      average_every_(average_every),
      session_(std::move(session)),
      averaged_(net.parameters()) {
  for (auto& p : averaged_)
    p = p.detach();
  for (const auto& all : {net.buffers(), optimiser_.moments()})
    averaged_.insert(averaged_.end(), all.begin(), all.end());
}

at::Tensor local_steps::step(const batch& b, double learning_rate) {
  auto loss = at::zeros({}, at::kDouble);
  if (round_.size() == average_every_)
    loss = end_round() / static_cast<double>(b.features.size(0));
  round_.push_back({b, learning_rate});
  return loss;
}

// Returns what the round's losses sum up to, over its examples.
at::Tensor local_steps::end_round() {
  auto total = at::zeros({}, at::kDouble);
  if (round_.empty())
    return total;
  const at::NoGradGuard no_grad;
  const auto start = row_of(averaged_);
  const auto sum = at::empty_like(start);
  const auto steps_before = count();
  rows_.assign(session_->shares(), {});
  losses_.assign(session_->shares(), 0);
  session_->together([&](links& l) {
    const auto own = shares_of(l.own(), l.members(), session_->shares());
    std::vector<std::span<const float>> values;
    for (auto s = own.begin; s < own.end; ++s) {
      if (!rows_[s].defined())
        train(s, start);
      values.push_back(values_of(rows_[s]));
    }
    all_reduce<float>(l, values, session_->shares(), values_of(sum));
    session_->gather_losses(l, losses_, [&](std::size_t share) {
      return member_of_share(share, l.members(), losses_.size());
    });
    take_average(sum, steps_before);
  });
  for (const auto loss : losses_)
    total += static_cast<double>(loss);
  return total;
}

// Leaves all as it was, but for what it found.
void local_steps::train(std::size_t share, const at::Tensor& start) {
  const auto before = count();
  {
    const at::AutoGradMode with_gradients(true);
    for (const auto& s : round_) {
      const auto own = share_of_batch(s.examples, share, session_->shares());
      net_.draw_from(rules_.stream_of_share(share, count()));
      const auto loss = loss_of_share(net_, own, own, rules_);
      loss.backward();
      losses_[share] +=
          loss.detach().item<float>() * static_cast<float>(own.features.size(0));
      optimiser_.step(s.learning_rate);
    }
  }
  rows_[share] = row_of(averaged_);
  copy_row(start, averaged_);
  optimiser_.go_on_after(before);
}

// After the last exchange.
void local_steps::take_average(const at::Tensor& sum, std::uint64_t steps_before) {
  copy_row(sum * (1 / static_cast<double>(session_->shares())), averaged_);
  optimiser_.go_on_after(steps_before + round_.size());
  for (std::size_t i = 1; average_ != nullptr && i <= round_.size(); ++i)
    average_->add(steps_before + i);
  round_.clear();
}

} // namespace

training_parts make_local_steps(distributed_training t) {
  const auto session =
      std::make_shared<team_session>(*t.members, of_whole_positions(t.state.give));
  const auto steps =
      std::make_shared<local_steps>(t.net, t.rules, t.how.average_every, session);
  return {.step = steps, .position = steps, .team = session};
}

} // namespace clade
