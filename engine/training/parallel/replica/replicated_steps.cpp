// A step of several replicas of one network: each computes the gradients of its share of
// the batch, all gradients are added up in an order that no timing changes, and the step
// is taken by all (mirrored) or by the first, whose parameters the others then copy
// (central_storage). Validation and checkpoints see the first, which has the statistics
// that its own normalisations gathered.
#include "engine/training/parallel/common/distributed_training.hpp"
#include "engine/training/parallel/common/ordered_sum.hpp"
#include "engine/training/parallel/common/shares.hpp"
#include "engine/training/parallel/replica/thread_team.hpp"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>

namespace clade {
namespace {

class replicated_steps final : public training_step, public whole_position {
public:
  replicated_steps(network_module& net, const step_rules& rules, replica_team& team,
                   bool central);

  at::Tensor step(const batch& b, double learning_rate) override;
  void take_over_weights() override;
  void go_on_after(std::uint64_t steps, std::span<const weight_tensor> moments) override;

private:
  [[nodiscard]] std::size_t replicas() const { return nets_.size(); }
  void compute_gradients(const batch& b);
  void gather_gradients();

  bool central_;
  std::vector<network_module*> nets_;
  std::vector<tensor_list> parameters_; ///< The parameters of each replica.
  std::vector<tensor_list> gradients_;
  tensor_list losses_;
  /// The optimisers of the other replicas of mirrored, whose tensors are equal.
  std::vector<std::unique_ptr<optimiser>> others_;
  thread_team threads_;
};

replicated_steps::replicated_steps(network_module& net, const step_rules& rules,
                                   replica_team& team, bool central)
    : whole_position(net, rules),
      central_(central),
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
    if (!central_ && n != &net)
      others_.push_back(std::make_unique<optimiser>(rules.recipe, n->parameters()));
  }
  gradients_.resize(replicas());
  take_over_weights();
}

void replicated_steps::compute_gradients(const batch& b) {
  threads_.run([&](std::size_t i) {
    const auto own = share_of_batch(b, i, replicas());
    nets_[i]->draw_from(rules_.stream_of_share(i, count()));
    const auto loss = loss_of_share(*nets_[i], own, b, rules_);
    loss.backward();
    losses_[i] = loss.detach();
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
  gather_gradients();
  threads_.run(
      [&](std::size_t i) { add_up_part(gradients_, central_ ? 1 : replicas(), i); });
  if (central_) {
    for (auto* n : nets_)
      if (n != nets_.front())
        n->zero_grad();
    optimiser_.step(learning_rate);
    take_over_weights();
  } else {
    threads_.run([&](std::size_t i) {
      (i == 0 ? optimiser_ : *others_[i - 1]).step(learning_rate);
    });
  }
  auto loss = losses_.front();
  for (std::size_t i = 1; i < replicas(); ++i)
    loss = loss + losses_[i];
  return loss;
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
}

void replicated_steps::go_on_after(std::uint64_t steps,
                                   std::span<const weight_tensor> moments) {
  whole_position::go_on_after(steps, moments);
  const auto first = optimiser_.moments();
  for (const auto& o : others_) {
    const auto own = o->moments();
    for (std::size_t i = 0; i < own.size(); ++i)
      own[i].copy_(first[i]);
    o->go_on_after(optimiser_.steps());
  }
}

} // namespace

training_parts make_mirrored_steps(distributed_training t) {
  const auto steps =
      std::make_shared<replicated_steps>(t.net, t.rules, *t.replicas, false);
  return {.step = steps, .position = steps};
}

training_parts make_central_steps(distributed_training t) {
  const auto steps =
      std::make_shared<replicated_steps>(t.net, t.rules, *t.replicas, true);
  return {.step = steps, .position = steps};
}

} // namespace clade
