// Steps of one member of a team, each of which has the whole network. A member computes
// the gradients of its shares of the batch; all are added up in an order that depends on
// the number of shares alone, and every member takes the same step. What a step changes
// is changed at its end, so that it can be done again by other members: the statistics of
// normalisations too, of which those of share 0 count.
#include "engine/collectives/collectives.hpp"
#include "engine/training/optimiser.hpp"
#include "engine/training/parallel/exchanging_steps.hpp"
#include "engine/training/parallel/shares.hpp"
#include "engine/training/parallel/team_session.hpp"
#include "engine/training/training_steps.hpp"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>

namespace clade {
namespace {

using steady_clock = std::chrono::steady_clock;

/// What became of one share of a step.
struct share_result {
  at::Tensor gradients; ///< Undefined until it is computed.
  float loss = 0;
};

class team_steps final : public training_steps {
public:
  team_steps(network_module& net, const step_rules& rules, team& members,
             handed_over state)
      : net_(net),
        rules_(rules),
        session_(members, std::move(state)),
        optimiser_(rules.recipe, net.parameters()),
        parameters_(net.parameters()),
        statistics_(net.buffers()),
        results_(session_.shares()) {}

  at::Tensor step(const batch& b, double learning_rate) override;
  [[nodiscard]] bool out_of_time(steady_clock::time_point deadline) override {
    deadline_ = deadline;
    return stops_;
  }
  [[nodiscard]] verdict agree(const std::function<verdict()>& decide) override;
  [[nodiscard]] bool is_first() const override { return session_.is_first(); }
  [[nodiscard]] std::uint64_t exchanges() const override { return session_.done(); }
  void go_on_after_exchanges(std::uint64_t done) override { session_.go_on_after(done); }
  [[nodiscard]] std::uint64_t count() const override { return optimiser_.steps(); }
  [[nodiscard]] std::vector<at::Tensor> moments() const override {
    return optimiser_.moments();
  }
  void go_on_after(std::uint64_t steps) override { optimiser_.go_on_after(steps); }
  // Nothing is drawn that is not keyed by the step.
  [[nodiscard]] std::vector<bytes> random_states() const override { return {}; }
  void set_random_states(std::span<const bytes>) override {}

private:
  void compute(std::size_t share, const batch& b);
  void find_gradients();
  void gather_losses(links& l);
  void take_step(links& l, double learning_rate);

  network_module& net_;
  step_rules rules_;
  team_session session_;
  optimiser optimiser_;
  tensor_list parameters_, statistics_;
  tensor_list with_gradients_; ///< The parameters that have any.
  std::vector<share_result> results_;
  tensor_list statistics_after_; ///< Of share 0, where this member does it.
  at::Tensor sum_;               ///< Of all shares' gradients.
  steady_clock::time_point deadline_ = steady_clock::time_point::max();
  bool stops_ = false;
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
  auto& r = results_[share];
  tensor_list before;
  for (const auto& s : statistics_)
    before.push_back(s.clone());
  net_.draw_from(rules_.stream_of_share(share, count()));
  const auto loss =
      loss_of_share(net_, share_of_batch(b, share, results_.size()), b, rules_);
  loss.backward();
  r.loss = loss.detach().item<float>();
  find_gradients();
  r.gradients = at::empty_like(sum_);
  const auto views = views_of(r.gradients, with_gradients_);
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

// Whether the time is up, as member 0 has it, comes with them.
void team_steps::gather_losses(links& l) {
  const auto most = (results_.size() + l.members() - 1) / l.members();
  std::vector<float> all((most + 1) * l.members());
  const auto of = [&](std::size_t member) { return all.data() + member * (most + 1); };
  const auto own = shares_of(l.own(), l.members(), results_.size());
  of(l.own())[0] = steady_clock::now() > deadline_ ? 1 : 0;
  for (auto s = own.begin; s < own.end; ++s)
    of(l.own())[1 + s - own.begin] = results_[s].loss;
  all_gather(l, bytes_of<float>(all));
  for (std::size_t m = 0; m < l.members(); ++m) {
    const auto theirs = shares_of(m, l.members(), results_.size());
    for (auto s = theirs.begin; s < theirs.end; ++s)
      results_[s].loss = of(m)[1 + s - theirs.begin];
  }
  stops_ = of(0)[0] != 0;
}

at::Tensor team_steps::step(const batch& b, double learning_rate) {
  for (auto& r : results_)
    r = {};
  statistics_after_.clear();
  session_.together([&](links& l) {
    const auto own = shares_of(l.own(), l.members(), results_.size());
    std::vector<std::span<const float>> gradients;
    for (auto s = own.begin; s < own.end; ++s) {
      if (!results_[s].gradients.defined())
        compute(s, b);
      gradients.push_back(values_of(results_[s].gradients));
    }
    all_reduce<float>(l, gradients, results_.size(), values_of(sum_));
    gather_losses(l);
    take_step(l, learning_rate);
  });
  auto loss = at::scalar_tensor(results_.front().loss);
  for (std::size_t s = 1; s < results_.size(); ++s)
    loss = loss + at::scalar_tensor(results_[s].loss);
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

verdict team_steps::agree(const std::function<verdict()>& decide) {
  std::optional<verdict> decided;
  session_.together([&](links& l) {
    if (l.own() == 0 && !decided)
      decided = decide();
    auto shared = static_cast<std::byte>(decided.value_or(verdict::goes_on));
    broadcast(l, 0, std::span(&shared, 1));
    decided = static_cast<verdict>(shared);
  });
  return *decided;
}

} // namespace

std::unique_ptr<training_steps> make_team_steps(network_module& net,
                                                const step_rules& rules,
                                                const distribution_params& how,
                                                team& members, handed_over state,
                                                const bytes& given) {
  const auto kind = how.kind();
  if (kind == distribution_kind::parameter_server
      || kind == distribution_kind::peer_to_peer) {
    auto log = decode_updates_log(given);
    TORCH_CHECK(log, log ? "" : log.error().message);
    return make_exchanging_steps(net, rules, how, members, std::move(state),
                                 std::move(*log));
  }
  return std::make_unique<team_steps>(net, rules, members, std::move(state));
}

} // namespace clade
