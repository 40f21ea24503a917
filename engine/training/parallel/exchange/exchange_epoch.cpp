#include "engine/training/parallel/exchange/exchange_epoch.hpp"

#include "engine/collectives/collectives.hpp"
#include "engine/training/parallel/common/shares.hpp"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>

// A worker computes the gradient of its share of each batch in turn, and sends each holder
// its part. It waits for these things:
//
//   steps (taken > 0)     all holders have made the version of this step; where one has
//                         made the next one already, its gradient comes too late for all
//   each gradient counts  the answers of all holders to its last gradient but one: so it
//                         computes while the last one is on its way. With `staleness` a
//                         holder answers when the slowest worker is near enough
//   peers                 nothing, or that the slowest worker is near enough
//   made again            exactly the versions that the log says
//
// One thread does what a member has of workers and holders, in turns: messages are handled
// between two gradients.

namespace clade {
namespace {

tensor_list tensors_of(const exchange_setup& setup, const holder_layout& layout) {
  tensor_list all;
  for (const auto i : layout.parameters)
    all.push_back(setup.parameters[i]);
  if (layout.statistics)
    all.insert(all.end(), setup.statistics.begin(), setup.statistics.end());
  return all;
}

} // namespace

std::size_t exchange_parts::owner_of_holder(std::size_t holder,
                                            std::size_t members) const {
  return member_of_share(holder, members, count());
}

std::size_t exchange_parts::owner_of_worker(std::size_t worker,
                                            std::size_t members) const {
  return member_of_share(separate ? rules.holders + worker : worker, members, count());
}

exchange_epoch::exchange_epoch(const exchange_setup& setup, message_session& session,
                               std::span<const tensor_list> states,
                               std::uint64_t steps_before,
                               std::optional<epoch_updates> given)
    : setup_(setup),
      rules_(setup.parts.rules),
      session_(session),
      steps_before_(steps_before),
      copies_(rules_.holders),
      losses_(rules_.workers),
      states_(rules_.holders),
      updates_(rules_.holders),
      states_missing_(rules_.holders),
      done_missing_(session.members()) {
  if (given) {
    const auto entries = given->empty() ? 0 : given->front().size();
    auto plan =
        plan_replay(std::move(*given), rules_,
                    entries / (rules_.taken == 0 ? rules_.workers : rules_.taken));
    TORCH_CHECK(plan, plan.error().message);
    plan_ = std::move(*plan);
  }
  const auto own = session.own(), members = session.members();
  for (std::size_t w = 0; w < rules_.workers; ++w)
    if (setup.parts.owner_of_worker(w, members) == own)
      workers_.push_back({.number = w,
                          .next = 0,
                          .replies = std::vector<std::uint64_t>(rules_.holders),
                          .copies = std::vector<copy>(rules_.holders),
                          .inbox = std::vector<std::deque<copy>>(rules_.holders)});
  for (std::size_t h = 0; h < rules_.holders; ++h) {
    const auto& layout = setup.layouts[h];
    const auto parameters = layout.parameters.size(),
               statistics = layout.statistics ? setup.statistics.size() : 0;
    if (setup.parts.owner_of_holder(h, members) == own)
      holders_.push_back(
          {.number = h,
           .holder = parameter_holder(setup.rules.recipe, states[h], parameters,
                                      statistics, steps_before),
           .version = 0,
           .log = {},
           .counts = std::vector<std::uint64_t>(rules_.workers),
           .replied = std::vector<std::uint64_t>(rules_.workers),
           .queues = std::vector<std::deque<pushed>>(rules_.workers),
           .sum = {}});
    const auto read = std::span(states[h]).first(parameters + statistics);
    for (auto& w : workers_)
      if (plan_ && rules_.reads(w.number, h))
        w.copies[h].row = row_of(read);
    if (!plan_ && !workers_.empty() && !rules_.peers && own_holder(h) == nullptr)
      copies_[h].row = row_of(read);
  }
}

exchange_epoch::held* exchange_epoch::own_holder(std::size_t holder) {
  const auto found = std::ranges::find(holders_, holder, &held::number);
  return found == holders_.end() ? nullptr : &*found;
}

exchange_epoch::working* exchange_epoch::own_worker(std::size_t worker) {
  const auto found = std::ranges::find(workers_, worker, &working::number);
  return found == workers_.end() ? nullptr : &*found;
}

// Members of one version send nothing that another does not expect.
void exchange_epoch::handle(const message& m) {
  const auto& head = m.head;
  if (head.kind == message_session::stop_kind)
    return session_.hear_stop();
  switch (static_cast<kind>(head.kind)) {
  case kind::gradients:
    take_in(
        *own_holder(head.holder), head.worker,
        {.step = head.step, .version = head.version, .rate = head.rate, .row = m.values});
    return;
  case kind::parameters:
    take_parameters(m);
    return;
  case kind::norms:
    norms_[head.holder] = m;
    finish_steps();
    return;
  case kind::state:
    take_state(head.holder, m.values, m.more);
    return;
  case kind::done:
    take_losses(m);
    return;
  }
  TORCH_CHECK(false, "a message of kind ", head.kind, " in an epoch");
}

void exchange_epoch::take_parameters(const message& m) {
  const auto h = m.head.holder;
  copy c{.row = m.values, .version = m.head.version};
  if (plan_) {
    own_worker(m.head.worker)->inbox[h].push_back(std::move(c));
    return;
  }
  copies_[h] = std::move(c);
  if (rules_.taken == 0)
    ++own_worker(m.head.worker)->replies[h];
}

void exchange_epoch::step(const batch& b, double learning_rate) {
  sizes_.push_back(b.targets.size(0));
  batches_[steps_++] = {.examples = b, .rate = learning_rate};
  for (const auto& w : workers_)
    losses_[w.number].resize(steps_);
  for (;;) {
    while (const auto m = session_.poll())
      handle(*m);
    const bool did = advance();
    const auto open = first_open_step();
    if (session_.stopped()
        || (plan_ ? open + plan_->lookahead >= steps_ : open == steps_))
      break;
    if (!did)
      handle(session_.wait());
  }
  batches_.erase(batches_.begin(), batches_.lower_bound(first_open_step()));
}

// The first that not all own workers have done.
std::uint64_t exchange_epoch::first_open_step() const {
  auto first = steps_;
  for (const auto& w : workers_) {
    if (!plan_)
      first = std::min<std::uint64_t>(first, w.next);
    else if (const auto& list = plan_->gradients[w.number]; w.next < list.size())
      first = std::min(first, list[w.next].step);
  }
  return first;
}

// Workers of one member begin in turn, so that none is always the last.
bool exchange_epoch::advance() {
  bool did = false;
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    auto& w = workers_[(i + steps_) % workers_.size()];
    did |= plan_ ? advance_planned(w) : advance(w);
  }
  return did;
}

std::uint64_t exchange_epoch::version_of(std::size_t holder) {
  const auto* own = own_holder(holder);
  return own == nullptr ? copies_[holder].version : own->version;
}

bool exchange_epoch::advance(working& w) {
  if (w.next == steps_)
    return false;
  if (rules_.taken > 0)
    for (std::size_t h = 0; h < rules_.holders; ++h)
      if (version_of(h) > w.next) {
        ++w.next;
        return true;
      }
  if (!may_compute(w))
    return false;
  compute(w, w.next);
  ++w.next;
  return true;
}

bool exchange_epoch::may_compute(const working& w) {
  if (rules_.peers) {
    const auto& counts = own_holder(w.number)->counts;
    return rules_.staleness == 0
           || w.next <= *std::ranges::min_element(counts) + rules_.staleness;
  }
  for (std::size_t h = 0; h < rules_.holders; ++h)
    if (rules_.taken > 0 ? version_of(h) != w.next : w.replies[h] + 1 < w.next)
      return false;
  return true;
}

bool exchange_epoch::advance_planned(working& w) {
  const auto& list = plan_->gradients[w.number];
  if (w.next == list.size() || list[w.next].step >= steps_)
    return false;
  const auto& g = list[w.next];
  for (std::size_t h = 0; h < rules_.holders; ++h) {
    if (!rules_.reads(w.number, h) || w.copies[h].version == g.versions[h])
      continue;
    if (w.inbox[h].empty())
      return false;
    w.copies[h] = std::move(w.inbox[h].front());
    w.inbox[h].pop_front();
  }
  compute(w, g.step);
  ++w.next;
  return true;
}

const at::Tensor& exchange_epoch::values_for(const working& w, std::size_t holder) {
  if (plan_)
    return w.copies[holder].row;
  const auto* own = own_holder(holder);
  return own == nullptr ? copies_[holder].row : own->holder.values();
}

void exchange_epoch::compute(const working& w, std::uint64_t step) {
  for (std::size_t h = 0; h < rules_.holders; ++h)
    if (rules_.reads(w.number, h))
      copy_row(values_for(w, h), tensors_of(setup_, setup_.layouts[h]));
  const auto& stored = batches_.at(step);
  const auto own = share_of_batch(stored.examples, w.number, rules_.workers);
  const auto& whole = rules_.taken > 0 ? stored.examples : own;
  setup_.net.draw_from(setup_.rules.stream_of_share(w.number, steps_before_ + step));
  const auto loss = loss_of_share(setup_.net, own, whole, setup_.rules);
  loss.backward();
  const auto weight = static_cast<float>(whole.targets.size(0))
                      / static_cast<float>(stored.examples.targets.size(0));
  losses_[w.number][step] = loss.detach().item<float>() * weight;
  tensor_list gradients;
  for (const auto& p : setup_.parameters)
    gradients.push_back(p.grad().defined() ? p.grad() : at::zeros_like(p.detach()));
  setup_.net.zero_grad();
  if (rules_.taken == 0 && setup_.rules.recipe.gradient_clip > 0)
    clip(gradients);
  push(w, step, gradients);
}

void exchange_epoch::clip(tensor_list& gradients) const {
  const at::NoGradGuard no_grad;
  tensor_list ordered;
  for (const auto i : order_of_groups(setup_.parameters))
    ordered.push_back(gradients[i]);
  const auto norm = at::stack(norms_of(ordered)).norm();
  const auto scale = clip_scale(norm, setup_.rules.recipe.gradient_clip);
  gradients = at::_foreach_mul(gradients, scale);
}

// Each holder its part of them, with the statistics as the worker has them now.
void exchange_epoch::push(const working& w, std::uint64_t step,
                          const tensor_list& gradients) {
  const at::NoGradGuard no_grad;
  for (std::size_t h = 0; h < rules_.holders; ++h) {
    const auto& layout = setup_.layouts[h];
    const auto like = tensors_of(setup_, layout);
    pushed p{.step = step,
             .version = plan_ ? w.copies[h].version : version_of(h),
             .rate = batches_.at(step).rate,
             .row = at::empty({elements_of(like)}, at::kFloat)};
    const auto views = views_of(p.row, like);
    for (std::size_t i = 0; i < views.size(); ++i)
      views[i].copy_(i < layout.parameters.size() ? gradients[layout.parameters[i]]
                                                  : like[i]);
    if (auto* own = own_holder(h); own != nullptr)
      take_in(*own, w.number, std::move(p));
    else
      session_.send(setup_.parts.owner_of_holder(h, session_.members()),
                    {.kind = static_cast<std::uint32_t>(kind::gradients),
                     .worker = static_cast<std::uint32_t>(w.number),
                     .holder = static_cast<std::uint32_t>(h),
                     .step = p.step,
                     .version = p.version,
                     .rate = p.rate},
                    p.row);
  }
}

bool exchange_epoch::finish() {
  TORCH_CHECK(!plan_
                  || plan_->updates.front().size()
                         == rules_.updates_of(steps_)
                                * std::max<std::size_t>(1, rules_.taken),
              "the log of updates is of another training");
  for (;;) {
    while (const auto m = session_.poll())
      handle(*m);
    const bool did = advance();
    send_states();
    send_losses();
    if (session_.stopped() || (states_missing_ == 0 && done_missing_ == 0))
      return !session_.stopped();
    if (!did)
      handle(session_.wait());
  }
}

void exchange_epoch::send_losses() {
  if (sent_done_ || first_open_step() != steps_)
    return;
  sent_done_ = true;
  std::vector<float> all;
  for (const auto& w : workers_)
    all.insert(all.end(), losses_[w.number].begin(), losses_[w.number].end());
  const auto row = at::tensor(all, at::kFloat);
  for (std::size_t m = 0; m < session_.members(); ++m)
    if (m != session_.own())
      session_.send(m, {.kind = static_cast<std::uint32_t>(kind::done), .step = steps_},
                    row);
  --done_missing_;
}

// Takes the losses of a member's workers, in their order. It sends nothing more in this
// epoch but the states of its holders.
void exchange_epoch::take_losses(const message& m) {
  --done_missing_;
  const auto* next = m.values.const_data_ptr<float>();
  for (std::size_t w = 0; w < rules_.workers; ++w)
    if (setup_.parts.owner_of_worker(w, session_.members()) == m.from) {
      losses_[w].assign(next, next + m.head.step);
      next += m.head.step;
    }
}

// Returns the total as replicas add theirs up; for a step that dropped some, those of the
// first holder count.
at::Tensor exchange_epoch::total_loss() const {
  auto total = at::zeros({}, at::kDouble);
  for (std::size_t t = 0; t < steps_; ++t) {
    at::Tensor loss;
    for (std::size_t w = 0; w < rules_.workers; ++w) {
      if (rules_.taken > 0 && rules_.timed()) {
        const auto step =
            std::span(updates_.front()).subspan(t * rules_.taken, rules_.taken);
        if (std::ranges::find(step, w, &applied_gradient::worker) == step.end())
          continue;
      }
      const auto own = at::scalar_tensor(losses_[w][t]);
      loss = loss.defined() ? loss + own : own;
    }
    if (rules_.taken > 0 && rules_.timed())
      loss = loss
             * (static_cast<double>(rules_.workers) / static_cast<double>(rules_.taken));
    total.add_(loss, sizes_[t]);
  }
  return total;
}

} // namespace clade
