// Steps of one member of a team, each of which has the whole network. A member computes
// the gradients of its shares of the batch; all are added up in an order that depends on
// the number of shares alone, and every member takes the same step. The state that a step
// changes is changed at its end, so that it can be done again by other members: the
// statistics of normalisations too, of which those of share 0 count.
#include "engine/collectives/collectives.hpp"
#include "engine/training/parallel/common/distributed_training.hpp"
#include "engine/training/parallel/common/shares.hpp"
#include "engine/training/parallel/common/team_session.hpp"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

namespace clade {
namespace {

class team_steps final : public training_step, public whole_position {
public:
  team_steps(network_module& net, const step_rules& rules,
             std::shared_ptr<team_session> session)
      : whole_position(net, rules),
        session_(std::move(session)),
        parameters_(net.parameters()),
        statistics_(net.buffers()),
        gradients_(session_->shares()),
        losses_(session_->shares()) {}

  at::Tensor step(const batch& b, double learning_rate) override;

private:
  void compute(std::size_t share, const batch& b);
  void find_gradients();
  void take_step(links& l, double learning_rate);

  std::shared_ptr<team_session> session_;
  tensor_list parameters_, statistics_;
  tensor_list with_gradients_; ///< The parameters that have any.
  /// The gradients of each share; undefined until they are computed.
  tensor_list gradients_;
  std::vector<float> losses_;
  /// The statistics after share 0, if this member does it.
  tensor_list statistics_after_;
  at::Tensor sum_; ///< The sum of all shares' gradients.
};

// Parameters that nothing leads to have none, whatever the share.
void team_steps::find_gradients() {
  if (sum_.defined())
    return;
  for (const auto& p : parameters_)
    if (p.grad().defined())
      with_gradients_.push_back(p);
  sum_ = at::empty({elements_of(with_gradients_)}, at::kFloat);
}

void team_steps::compute(std::size_t share, const batch& b) {
  tensor_list before;
  for (const auto& s : statistics_)
    before.push_back(s.clone());
  net_.draw_from(rules_.stream_of_share(share, count()));
  const auto loss =
      loss_of_share(net_, share_of_batch(b, share, losses_.size()), b, rules_);
  loss.backward();
  losses_[share] = loss.detach().item<float>();
  find_gradients();
  gradients_[share] = at::empty_like(sum_);
  const auto views = views_of(gradients_[share], with_gradients_);
  const at::NoGradGuard no_grad;
  for (std::size_t i = 0; i < views.size(); ++i)
    views[i].copy_(with_gradients_[i].grad());
  net_.zero_grad();
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (share == 0)
      statistics_after_.push_back(statistics_[i].clone());
    statistics_[i].copy_(before[i]);
  }
}

at::Tensor team_steps::step(const batch& b, double learning_rate) {
  gradients_.assign(gradients_.size(), {});
  statistics_after_.clear();
  session_->together([&](links& l) {
    const auto own = shares_of(l.own(), l.members(), losses_.size());
    std::vector<std::span<const float>> gradients;
    for (auto s = own.begin; s < own.end; ++s) {
      if (!gradients_[s].defined())
        compute(s, b);
      gradients.push_back(values_of(gradients_[s]));
    }
    all_reduce<float>(l, gradients, losses_.size(), values_of(sum_));
    session_->gather_losses(l, losses_, [&](std::size_t share) {
      return member_of_share(share, l.members(), losses_.size());
    });
    take_step(l, learning_rate);
  });
  auto loss = at::scalar_tensor(losses_.front());
  for (std::size_t s = 1; s < losses_.size(); ++s)
    loss = loss + at::scalar_tensor(losses_[s]);
  return loss;
}

// After the last exchange.
void team_steps::take_step(links& l, double learning_rate) {
  const at::NoGradGuard no_grad;
  auto statistics = at::empty({elements_of(statistics_)}, at::kFloat);
  const auto after = views_of(statistics, statistics_);
  if (l.own() == 0)
    for (std::size_t i = 0; i < after.size(); ++i)
      after[i].copy_(statistics_after_[i]);
  if (!after.empty())
    broadcast(l, 0, bytes_of(values_of(statistics)));
  for (std::size_t i = 0; i < after.size(); ++i)
    statistics_[i].copy_(after[i]);
  const auto sums = views_of(sum_, with_gradients_);
  for (std::size_t i = 0; i < sums.size(); ++i)
    with_gradients_[i].mutable_grad() = sums[i].to(with_gradients_[i].device());
  optimiser_.step(learning_rate);
}

} // namespace

training_parts make_team_steps(distributed_training t) {
  const auto session =
      std::make_shared<team_session>(*t.members, of_whole_positions(t.state.give));
  const auto steps = std::make_shared<team_steps>(t.net, t.rules, session);
  return {.step = steps, .position = steps, .team = session};
}

} // namespace clade
