// The work of holders of parameters in an epoch (exchange_epoch.hpp): they take gradients
// in, in the order in which they come or in that of a log, and give out parameters.
#include "engine/training/parallel/common/shares.hpp"
#include "engine/training/parallel/exchange/exchange_epoch.hpp"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace clade {

void exchange_epoch::take_in(held& h, std::size_t worker, pushed p) {
  if (plan_) {
    h.queues[worker].push_back(std::move(p));
    take_planned(h);
  } else if (rules_.taken == 0) {
    const bool reads = rules_.reads(worker, h.number);
    h.log.push_back(
        {.worker = static_cast<std::uint32_t>(worker),
         .staleness = reads ? static_cast<std::uint32_t>(h.version - p.version) : 0});
    ++h.counts[worker];
    apply(h, p.row, p.rate, reads);
  } else if (p.step == h.version && !h.sum.defined()) {
    h.rate = p.rate;
    h.queues[worker].push_back(std::move(p));
    const auto come =
        std::ranges::count_if(h.queues, [](const auto& queue) { return !queue.empty(); });
    if (static_cast<std::size_t>(come) == rules_.taken)
      take_step(h);
  }
}

void exchange_epoch::take_planned(held& h) {
  const auto& list = plan_->updates[h.number];
  if (rules_.taken == 0) {
    while (h.log.size() < list.size() && !h.queues[list[h.log.size()].worker].empty()) {
      const auto u = list[h.log.size()];
      const auto p = std::move(h.queues[u.worker].front());
      h.queues[u.worker].pop_front();
      h.log.push_back(u);
      apply(h, p.row, p.rate, rules_.reads(u.worker, h.number));
    }
    return;
  }
  if (h.sum.defined() || h.log.size() == list.size())
    return;
  const auto step = std::span(list).subspan(h.log.size(), rules_.taken);
  for (std::size_t w = 0; w < rules_.workers; ++w) {
    auto& queue = h.queues[w];
    const bool counts =
        std::ranges::find(step, w, &applied_gradient::worker) != step.end();
    while (!queue.empty() && (queue.front().step < h.version || !counts))
      queue.pop_front();
    if (counts && queue.empty())
      return;
    if (counts)
      h.rate = queue.front().rate;
  }
  take_step(h);
}

// Takes a step by the gradients of the workers in `queues`. The norm of all holders' sums
// decides how they are clipped.
void exchange_epoch::take_step(held& h) {
  const at::NoGradGuard no_grad;
  tensor_list rows(rules_.workers);
  for (std::size_t w = 0; w < rules_.workers; ++w) {
    if (h.queues[w].empty())
      continue;
    rows[w] = h.queues[w].front().row;
    h.queues[w].clear();
    if (rules_.timed())
      h.log.push_back({.worker = static_cast<std::uint32_t>(w), .staleness = 0});
  }
  const auto& layout = setup_.layouts[h.number];
  h.sum = at::empty_like(h.holder.values());
  add_up_shares(rows, layout, setup_.offsets, h.sum);
  if (rules_.taken < rules_.workers)
    gradients_in(h).mul_(static_cast<double>(rules_.workers)
                         / static_cast<double>(rules_.taken));
  if (setup_.rules.recipe.gradient_clip > 0) {
    message m{.head = {.kind = static_cast<std::uint32_t>(kind::norms),
                       .holder = static_cast<std::uint32_t>(h.number),
                       .step = h.version},
              .from = session_.own(),
              .values = norms_of_parts(h.sum, parts_of_holder(h.number)),
              .more = {}};
    for (std::size_t member = 0; member < session_.members(); ++member)
      if (member != session_.own())
        session_.send(member, m.head, m.values);
    norms_[h.number] = std::move(m);
  }
  finish_steps();
}

at::Tensor exchange_epoch::gradients_in(const held& h) const {
  std::int64_t size = 0;
  for (const auto i : setup_.layouts[h.number].parameters)
    size += setup_.parameters[i].numel();
  return h.sum.narrow(0, 0, size);
}

std::vector<held_part> exchange_epoch::parts_of_holder(std::size_t holder) const {
  return parts_of(setup_.layouts[holder], setup_.offsets, rules_.workers);
}

// Returns the scale; the norm of all gradients is made of norms of their parts
// (optimiser.hpp). Undefined: not all are there.
at::Tensor exchange_epoch::scale_of_step(std::uint64_t step) const {
  // The norms of each parameter's parts.
  std::vector<tensor_list> norms(setup_.parameters.size());
  for (std::size_t h = 0; h < rules_.holders; ++h) {
    const auto found = norms_.find(h);
    if (found == norms_.end() || found->second.head.step != step)
      return {};
    std::int64_t next = 0;
    for (const auto& p : parts_of_holder(h))
      norms[p.parameter].push_back(found->second.values.select(0, next++));
  }
  tensor_list ordered;
  for (const auto i : order_of_groups(setup_.parameters))
    std::ranges::move(norms[i], std::back_inserter(ordered));
  return clip_scale(at::stack(ordered).norm(), setup_.rules.recipe.gradient_clip);
}

void exchange_epoch::finish_steps() {
  const at::NoGradGuard no_grad;
  for (auto& h : holders_) {
    if (!h.sum.defined())
      continue;
    if (setup_.rules.recipe.gradient_clip > 0) {
      const auto scale = scale_of_step(h.version);
      if (!scale.defined())
        continue;
      gradients_in(h).mul_(scale);
    }
    const auto sum = std::move(h.sum);
    h.sum = at::Tensor();
    apply(h, sum, h.rate, true);
  }
}

void exchange_epoch::apply(held& h, const at::Tensor& row, double rate,
                           bool takes_statistics) {
  h.holder.step(row, rate, takes_statistics);
  ++h.version;
  if (plan_)
    deliver_planned(h);
  else if (rules_.taken > 0)
    broadcast_parameters(h);
  else if (!rules_.peers)
    release(h);
}

void exchange_epoch::deliver_planned(held& h) {
  const auto& list = plan_->deliveries[h.number];
  for (; h.delivered < list.size() && list[h.delivered].version == h.version;
       ++h.delivered) {
    const auto worker = list[h.delivered].worker;
    if (auto* own = own_worker(worker); own != nullptr)
      own->inbox[h.number].push_back(
          {.row = h.holder.values().clone(), .version = h.version});
    else
      send_parameters(h, worker,
                      setup_.parts.owner_of_worker(worker, session_.members()));
  }
}

void exchange_epoch::broadcast_parameters(held& h) {
  std::vector<bool> sent(session_.members());
  sent[session_.own()] = true;
  for (std::size_t w = 0; w < rules_.workers; ++w) {
    const auto member = setup_.parts.owner_of_worker(w, session_.members());
    if (!sent[member])
      send_parameters(h, w, member);
    sent[member] = true;
  }
}

// Answers gradients, of each worker in turn. One that has answers to all but its last may
// begin the step after that.
void exchange_epoch::release(held& h) {
  const auto least = *std::ranges::min_element(h.counts);
  for (std::size_t w = 0; w < rules_.workers; ++w)
    for (auto& n = h.replied[w];
         n < h.counts[w] && (rules_.staleness == 0 || n + 2 <= least + rules_.staleness);
         ++n) {
      if (auto* own = own_worker(w); own != nullptr)
        ++own->replies[h.number];
      else
        send_parameters(h, w, setup_.parts.owner_of_worker(w, session_.members()));
    }
}

void exchange_epoch::send_parameters(const held& h, std::size_t worker,
                                     std::size_t member) {
  session_.send(member,
                {.kind = static_cast<std::uint32_t>(kind::parameters),
                 .worker = static_cast<std::uint32_t>(worker),
                 .holder = static_cast<std::uint32_t>(h.number),
                 .version = h.version},
                h.holder.values());
}

void exchange_epoch::send_states() {
  for (auto& h : holders_) {
    if (h.sent || h.version != rules_.updates_of(steps_))
      continue;
    h.sent = true;
    const auto state = h.holder.state();
    bytes log;
    if (rules_.timed())
      log = encode(updates_log{.workers = static_cast<std::uint32_t>(rules_.workers),
                               .epochs = {{h.log}}});
    for (std::size_t m = 0; m < session_.members(); ++m)
      if (m != session_.own())
        session_.send(m,
                      {.kind = static_cast<std::uint32_t>(kind::state),
                       .holder = static_cast<std::uint32_t>(h.number)},
                      state, log);
    take_state(h.number, state, log);
  }
}

void exchange_epoch::take_state(std::size_t holder, const at::Tensor& state,
                                const bytes& log) {
  --states_missing_;
  states_[holder] = state;
  // Copies are added up in their order, and given up.
  for (; rules_.peers && added_ < states_.size() && states_[added_].defined(); ++added_)
    if (added_ > 0)
      states_.front().add_(std::exchange(states_[added_], at::Tensor()));
  if (!rules_.timed())
    return;
  auto decoded = decode_updates_log(log);
  TORCH_CHECK(decoded, decoded ? "" : decoded.error().message);
  updates_[holder] = std::move(decoded->epochs.front().front());
}

} // namespace clade
