// A step of several replicas of one network: each computes the gradients of its share of
// the batch, all gradients are added up in an order that no timing changes, and the step
// is taken by all (mirrored) or by the first, whose parameters the others then copy
// (central_storage). Replicas of local_sgd take steps of their own and are averaged now
// and then. Validation and checkpoints see the first, which has the statistics that its
// own normalisations gathered.
#include "engine/training/optimiser.hpp"
#include "engine/training/parallel/ordered_sum.hpp"
#include "engine/training/parallel/shares.hpp"
#include "engine/training/parallel/thread_team.hpp"
#include "engine/training/training_steps.hpp"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>

namespace clade {
namespace {

class replicated_steps final : public training_steps {
public:
  replicated_steps(network_module& net, const step_rules& rules, replica_team& team,
                   const distribution_params& how);

  at::Tensor step(const batch& b, double learning_rate) override;
  [[nodiscard]] std::optional<at::Tensor> settle() override;
  void take_over_weights() override;
  [[nodiscard]] std::uint64_t count() const override {
    return optimisers_.front()->steps();
  }
  [[nodiscard]] std::vector<at::Tensor> moments() const override;
  void go_on_after(std::uint64_t steps) override;
  // Nothing is drawn that is not keyed by the step.
  [[nodiscard]] std::vector<bytes> random_states() const override { return {}; }
  void set_random_states(std::span<const bytes>) override {}

private:
  [[nodiscard]] std::size_t replicas() const { return nets_.size(); }
  void compute_gradients(const batch& b);
  void gather_gradients();
  void average();

  step_rules rules_;
  distribution_kind kind_;
  std::uint32_t average_every_, since_average_ = 0;
  std::vector<network_module*> nets_;
  std::vector<tensor_list> parameters_; ///< Of each replica.
  std::vector<tensor_list> gradients_;
  tensor_list losses_;
  /// Of each replica; of central_storage the first's alone.
  std::vector<std::unique_ptr<optimiser>> optimisers_;
  thread_team threads_;
};

replicated_steps::replicated_steps(network_module& net, const step_rules& rules,
                                   replica_team& team, const distribution_params& how)
    : rules_(rules),
      kind_(how.kind()),
      average_every_(how.average_every),
      nets_{&net},
      losses_(team.others.size() + 1),
      threads_(team.others.size() + 1, team.prepare_thread) {
  for (const auto& other : team.others) {
    nets_.push_back(other.get());
    if (rules.recipe.stochastic_depth > 0) {
      auto key = rules.key;
      key.share = static_cast<std::uint32_t>(nets_.size() - 1);
      other->use_stochastic_depth(rules.recipe.stochastic_depth, key);
    }
    other->train();
  }
  for (auto* n : nets_) {
    parameters_.push_back(n->parameters());
    if (kind_ != distribution_kind::central_storage || n == &net)
      optimisers_.push_back(std::make_unique<optimiser>(rules.recipe, n->parameters()));
  }
  gradients_.resize(replicas());
  take_over_weights();
}

void replicated_steps::compute_gradients(const batch& b) {
  threads_.run([&](std::size_t i) {
    const auto own = share_of_batch(b, i, replicas());
    const bool alone = kind_ == distribution_kind::local_sgd;
    nets_[i]->draw_from(rules_.stream_of_share(i, count()));
    const auto loss = loss_of_share(*nets_[i], own, alone ? own : b, rules_);
    loss.backward();
    losses_[i] = loss.detach();
    if (alone)
      losses_[i] = losses_[i]
                   * (static_cast<double>(own.targets.size(0))
                      / static_cast<double>(b.targets.size(0)));
  });
}

// Parameters that no example reached have none.
void replicated_steps::gather_gradients() {
  for (std::size_t r = 0; r < replicas(); ++r) {
    gradients_[r].clear();
    for (std::size_t i = 0; i < parameters_[r].size(); ++i) {
      auto& g = parameters_[r][i].mutable_grad();
      if (!g.defined())
        continue;
      if (!lie_alike(g, parameters_[r][i]))
        g = at::empty_like(parameters_[r][i]).requires_grad_(false).copy_(g);
      gradients_[r].push_back(g);
    }
  }
}

at::Tensor replicated_steps::step(const batch& b, double learning_rate) {
  compute_gradients(b);
  if (kind_ == distribution_kind::local_sgd) {
    threads_.run([&](std::size_t i) { optimisers_[i]->step(learning_rate); });
    if (++since_average_ >= average_every_)
      average();
  } else {
    const bool central = kind_ == distribution_kind::central_storage;
    gather_gradients();
    threads_.run(
        [&](std::size_t i) { add_up_part(gradients_, 1, central ? 1 : replicas(), i); });
    if (central) {
      for (auto* n : nets_)
        if (n != nets_.front())
          n->zero_grad();
      optimisers_.front()->step(learning_rate);
      take_over_weights();
    } else {
      threads_.run([&](std::size_t i) { optimisers_[i]->step(learning_rate); });
    }
  }
  auto loss = losses_.front();
  for (std::size_t i = 1; i < replicas(); ++i)
    loss = loss + losses_[i];
  return loss;
}

void replicated_steps::average() {
  const double share = 1 / static_cast<double>(replicas());
  threads_.run([&](std::size_t i) {
    const at::NoGradGuard no_grad;
    add_up_part(parameters_, share, replicas(), i);
  });
  since_average_ = 0;
}

std::optional<at::Tensor> replicated_steps::settle() {
  if (since_average_ > 0)
    average();
  return at::Tensor();
}

void replicated_steps::take_over_weights() {
  threads_.run([&](std::size_t i) {
    if (i == 0)
      return;
    const at::NoGradGuard no_grad;
    const auto& from = nets_.front()->state();
    for (std::size_t s = 0; s < from.size(); ++s)
      nets_[i]->state()[s].tensor.detach().copy_(from[s].tensor.detach());
  });
  since_average_ = 0;
}

// What replicas of mirrored have is equal, and that of the first is enough.
std::vector<at::Tensor> replicated_steps::moments() const {
  auto all = optimisers_.front()->moments();
  if (kind_ == distribution_kind::local_sgd)
    for (std::size_t i = 1; i < optimisers_.size(); ++i) {
      const auto more = optimisers_[i]->moments();
      all.insert(all.end(), more.begin(), more.end());
    }
  return all;
}

void replicated_steps::go_on_after(std::uint64_t steps) {
  const auto first = optimisers_.front()->moments();
  for (auto& o : optimisers_) {
    if (o != optimisers_.front() && kind_ == distribution_kind::mirrored) {
      const auto own = o->moments();
      for (std::size_t i = 0; i < own.size(); ++i)
        own[i].copy_(first[i]);
    }
    o->go_on_after(steps);
  }
}

} // namespace

std::unique_ptr<training_steps> make_training_steps(network_module& net,
                                                    const step_rules& rules,
                                                    replica_team& team,
                                                    const distribution_params& how) {
  return std::make_unique<replicated_steps>(net, rules, team, how);
}

} // namespace clade
