// Steps of one member of a team whose members hold parameters and exchange gradients:
// parameter_server and peer_to_peer. Within an epoch the parameters are at their holders
// (exchange_epoch.hpp); at its end every member gets the state of all, so that each has
// the whole network between epochs, validates it, and keeps the position.
#include "engine/training/parallel/common/distributed_training.hpp"
#include "engine/training/parallel/common/shares.hpp"
#include "engine/training/parallel/common/updates_log.hpp"
#include "engine/training/parallel/exchange/exchange_epoch.hpp"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>

namespace clade {
namespace {

using steady_clock = std::chrono::steady_clock;

constexpr std::uint32_t verdict_kind = 100;

exchange_parts parts_of(const distribution_params& how) {
  const bool peers = how.row().receivers == gradient_receivers::peers;
  exchange_rules rules{.holders = how.workers == 0 ? how.devices : how.servers,
                       .workers = how.shares(),
                       .peers = peers};
  const auto rule = how.rule();
  if (rule == update_rule::synchronous)
    rules.taken = rules.workers;
  else if (rule == update_rule::backup)
    rules.taken = rules.workers - how.backup_workers;
  else if (rule == update_rule::bounded)
    rules.staleness = how.staleness;
  return {.rules = rules, .separate = how.workers != 0};
}

/// A moment of a parameter, by what the optimiser of the whole network has.
struct moment {
  std::size_t parameter = 0;
  at::Tensor values;
};

class exchanging_steps final : public training_steps {
public:
  exchanging_steps(network_module& net, const step_rules& rules,
                   const distribution_params& how, team& members, handed_over state,
                   updates_log given);

  at::Tensor step(const batch& b, double learning_rate) override;
  [[nodiscard]] std::optional<at::Tensor> settle() override;
  [[nodiscard]] bool out_of_time(steady_clock::time_point deadline) override;
  [[nodiscard]] verdict agree(const std::function<verdict()>& decide) override;
  // Within an epoch no member has the whole position.
  [[nodiscard]] bool is_first() const override { return !epoch_ && session_.is_first(); }
  [[nodiscard]] std::optional<loop_position> last_position() const override;
  [[nodiscard]] std::uint64_t exchanges() const override { return session_.kept(); }
  void go_on_after_exchanges(std::uint64_t kept) override { session_.go_on_after(kept); }
  void take_over_weights() override;
  [[nodiscard]] std::uint64_t count() const override { return count_; }
  [[nodiscard]] bool keeps(weight_average& average) override;
  [[nodiscard]] bytes updates() const override { return encode(log_); }
  void take_over_updates(const bytes& log) override;
  // Nothing is drawn that is not keyed by the step.
  [[nodiscard]] std::vector<bytes> random_states() const override { return {}; }
  void set_random_states(std::span<const bytes>) override {}

private:
  [[nodiscard]] std::vector<at::Tensor> moment_tensors() const override;
  void begin_after(std::uint64_t steps) override { count_ = steps; }
  void begin();
  [[nodiscard]] tensor_list state_of(const holder_layout& layout) const;
  void take_states(std::vector<at::Tensor> states);

  step_rules rules_;
  exchange_setup setup_;
  message_session session_;
  /// The state of the network, as its average has it.
  tensor_list state_;
  mutable std::vector<moment> moments_; ///< Empty within an epoch.
  const weight_average* average_ = nullptr;
  std::uint64_t count_ = 0;
  updates_log given_, log_;
  std::optional<exchange_epoch> epoch_;
  /// The verdict at the position that was kept last but so many; it is said once.
  std::optional<std::pair<std::uint64_t, verdict>> decided_;
};

exchanging_steps::exchanging_steps(network_module& net, const step_rules& rules,
                                   const distribution_params& how, team& members,
                                   handed_over state, updates_log given)
    : training_steps(net),
      rules_(rules),
      setup_{.net = net,
             .rules = rules_,
             .parts = parts_of(how),
             .parameters = net.parameters(),
             .statistics = net.buffers(),
             .layouts = {},
             .offsets = {0}},
      session_(members, std::move(state)),
      given_(std::move(given)) {
  const auto& r = setup_.parts.rules;
  setup_.layouts = deal_parameters(setup_.parameters, r.holders, r.peers);
  for (const auto& p : setup_.parameters)
    setup_.offsets.push_back(setup_.offsets.back() + p.numel());
  for (const auto& s : net.state())
    state_.push_back(s.tensor);
  log_.workers = static_cast<std::uint32_t>(r.workers);
  TORCH_CHECK(given_.epochs.empty() || given_.workers == log_.workers,
              "the log of updates is of another training");
}

std::vector<at::Tensor> exchanging_steps::moment_tensors() const {
  if (moments_.empty())
    for (const auto i :
         optimiser::parameters_of_moments(rules_.recipe, setup_.parameters))
      moments_.push_back({i, at::zeros_like(setup_.parameters[i].detach())});
  std::vector<at::Tensor> all;
  for (const auto& m : moments_)
    all.push_back(m.values);
  return all;
}

// The moments are put in after this.
void exchanging_steps::take_over_weights() {
  epoch_.reset();
  moments_.clear();
  count_ = 0;
}

bool exchanging_steps::keeps(weight_average& average) {
  average_ = &average;
  return true;
}

void exchanging_steps::take_over_updates(const bytes& log) {
  auto decoded = decode_updates_log(log);
  TORCH_CHECK(decoded, decoded ? "" : decoded.error().message);
  log_.epochs = std::move(decoded->epochs);
}

// Parameters, statistics, moments, and the average of the first two.
tensor_list exchanging_steps::state_of(const holder_layout& layout) const {
  tensor_list own;
  for (const auto i : layout.parameters)
    own.push_back(setup_.parameters[i].detach());
  if (layout.statistics)
    for (const auto& s : setup_.statistics)
      own.push_back(s.detach());
  tensor_list all = own;
  for (const auto& m : moments_)
    if (std::ranges::binary_search(layout.parameters, m.parameter))
      all.push_back(m.values);
  for (const auto& t : average_ == nullptr ? tensor_list() : own) {
    const auto found = std::ranges::find_if(
        state_, [&](const at::Tensor& s) { return s.data_ptr() == t.data_ptr(); });
    TORCH_CHECK(found != state_.end(), "a tensor that is no part of the network");
    all.push_back(average_->values()[static_cast<std::size_t>(found - state_.begin())]);
  }
  return all;
}

std::optional<loop_position> exchanging_steps::last_position() const {
  if (!epoch_ || !session_.is_first())
    return std::nullopt;
  auto last = decode_loop_position(session_.position());
  TORCH_CHECK(last, "the position of this member: ", last.error().message);
  return std::move(*last);
}

void exchanging_steps::begin() {
  session_.meet();
  session_.begin_epoch();
  static_cast<void>(moment_tensors());
  std::vector<tensor_list> states;
  for (const auto& l : setup_.layouts)
    states.push_back(state_of(l));
  std::optional<epoch_updates> given;
  if (log_.epochs.size() < given_.epochs.size())
    given = given_.epochs[log_.epochs.size()];
  epoch_.emplace(setup_, session_, states, count_, std::move(given));
  moments_.clear();
}

at::Tensor exchanging_steps::step(const batch& b, double learning_rate) {
  if (!epoch_)
    begin();
  epoch_->step(b, learning_rate);
  session_.has_done();
  return at::zeros({});
}

bool exchanging_steps::out_of_time(steady_clock::time_point deadline) {
  if (epoch_ && !epoch_->stopped() && steady_clock::now() > deadline)
    epoch_->stop();
  return epoch_ && epoch_->stopped();
}

std::optional<at::Tensor> exchanging_steps::settle() {
  if (!epoch_->finish())
    return std::nullopt;
  take_states(std::move(epoch_->states()));
  if (setup_.parts.rules.timed())
    log_.epochs.push_back(epoch_->updates());
  auto loss = epoch_->total_loss();
  count_ += epoch_->versions();
  epoch_.reset();
  return loss;
}

// Copies are averaged, with what their optimisers keep.
void exchanging_steps::take_states(std::vector<at::Tensor> states) {
  const at::NoGradGuard no_grad;
  static_cast<void>(moment_tensors());
  if (setup_.parts.rules.peers) {
    states.front().mul_(1 / static_cast<double>(setup_.parts.rules.holders));
    states.resize(1);
  }
  for (std::size_t h = 0; h < states.size(); ++h)
    copy_row(states[h], state_of(setup_.layouts[h]));
}

// Whoever decides for all has said so once, whether or not all have heard it.
verdict exchanging_steps::agree(const std::function<verdict()>& decide) {
  session_.meet();
  session_.keep();
  session_.has_done();
  const bool known = decided_ && decided_->first == session_.kept();
  if (session_.own() == 0) {
    if (!known)
      decided_ = {session_.kept(), decide()};
    for (std::size_t m = 1; m < session_.members(); ++m)
      session_.send(m, {.kind = verdict_kind,
                        .step = static_cast<std::uint64_t>(decided_->second)});
    return decided_->second;
  }
  for (;;) {
    auto m = session_.wait();
    if (m.head.kind == verdict_kind) {
      decided_ = {session_.kept(), static_cast<verdict>(m.head.step)};
      return decided_->second;
    }
    session_.put_back(std::move(m));
  }
}

} // namespace

std::unique_ptr<training_steps> make_exchanging_steps(distributed_training t) {
  auto given = decode_updates_log(t.updates);
  TORCH_CHECK(given, given ? "" : given.error().message);
  return std::make_unique<exchanging_steps>(t.net, t.rules, t.how, *t.members,
                                            std::move(t.state), std::move(*given));
}

} // namespace clade
