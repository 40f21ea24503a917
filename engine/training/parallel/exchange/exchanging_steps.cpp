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

class exchanging_steps final : public training_step, public step_position {
public:
  exchanging_steps(network_module& net, const step_rules& rules,
                   const distribution_params& how,
                   std::shared_ptr<message_session> session, updates_log given);

  at::Tensor step(const batch& b, double learning_rate) override;
  [[nodiscard]] std::optional<at::Tensor> settle() override;
  [[nodiscard]] bool keeps(weight_average& average) override;

  [[nodiscard]] std::vector<at::Tensor> state() const override { return state_; }
  [[nodiscard]] std::vector<weight_tensor>
  whole(std::span<const at::Tensor> values) override {
    return with_names(net_, values);
  }
  [[nodiscard]] std::vector<weight_tensor> moments() override {
    return without_names(moment_tensors());
  }
  void go_on_after(std::uint64_t steps, std::span<const weight_tensor> moments) override {
    if (copy_back(moment_tensors(), moments))
      count_ = steps;
  }
  // Within an epoch no member has the whole position.
  [[nodiscard]] bool is_whole() const override { return !epoch_; }
  [[nodiscard]] std::optional<loop_position> leave() override;
  void take_over_weights() override;
  [[nodiscard]] std::uint64_t count() const override { return count_; }
  [[nodiscard]] bytes updates() const override { return encode(log_); }
  void take_over_updates(const bytes& log) override;

private:
  tensor_list moment_tensors();
  void begin();
  [[nodiscard]] tensor_list state_of(const holder_layout& layout) const;
  void take_states(std::vector<at::Tensor> states);

  network_module& net_;
  step_rules rules_;
  exchange_setup setup_;
  std::shared_ptr<message_session> session_;
  /// The state of the network, as its average has it.
  tensor_list state_;
  std::vector<moment> moments_; ///< Empty within an epoch.
  const weight_average* average_ = nullptr;
  std::uint64_t count_ = 0;
  updates_log given_, log_;
  std::optional<exchange_epoch> epoch_;
};

exchanging_steps::exchanging_steps(network_module& net, const step_rules& rules,
                                   const distribution_params& how,
                                   std::shared_ptr<message_session> session,
                                   updates_log given)
    : net_(net),
      rules_(rules),
      setup_{.net = net,
             .rules = rules_,
             .parts = parts_of(how),
             .parameters = net.parameters(),
             .statistics = net.buffers(),
             .layouts = {},
             .offsets = {0}},
      session_(std::move(session)),
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

tensor_list exchanging_steps::moment_tensors() {
  if (moments_.empty())
    for (const auto i :
         optimiser::parameters_of_moments(rules_.recipe, setup_.parameters))
      moments_.push_back({i, at::zeros_like(setup_.parameters[i].detach())});
  tensor_list all;
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

std::optional<loop_position> exchanging_steps::leave() {
  if (!epoch_)
    return std::nullopt;
  auto last = decode_loop_position(session_->position());
  TORCH_CHECK(last, "the position of this member: ", last.error().message);
  return std::move(*last);
}

void exchanging_steps::begin() {
  session_->begin_epoch();
  static_cast<void>(moment_tensors());
  std::vector<tensor_list> states;
  for (const auto& l : setup_.layouts)
    states.push_back(state_of(l));
  std::optional<epoch_updates> given;
  if (log_.epochs.size() < given_.epochs.size())
    given = given_.epochs[log_.epochs.size()];
  epoch_.emplace(setup_, *session_, states, count_, std::move(given));
  moments_.clear();
}

at::Tensor exchanging_steps::step(const batch& b, double learning_rate) {
  if (!epoch_)
    begin();
  epoch_->step(b, learning_rate);
  session_->has_done();
  return at::zeros({});
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

} // namespace

training_parts make_exchanging_steps(distributed_training t) {
  auto given = decode_updates_log(t.updates);
  TORCH_CHECK(given, given ? "" : given.error().message);
  const auto session = std::make_shared<message_session>(*t.members, t.state.give);
  const auto steps = std::make_shared<exchanging_steps>(t.net, t.rules, t.how, session,
                                                        std::move(*given));
  return {.step = steps, .position = steps, .team = session};
}

} // namespace clade
