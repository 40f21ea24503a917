#include "engine/simulation/run_driver.hpp"

#include <algorithm>

namespace clade {

breeder breeder_of(const run_rules& rules, const problem& problem) {
  return [&rules, problem](const breeding& order) {
    return breed({*rules.space, problem, rules.evolution.mutation, rules.seed}, order);
  };
}

expected<std::vector<candidate>>
open_orders::carry_out(std::size_t i, const run_state& state, const breeder& breed) {
  const auto order = orders[i];
  orders.erase(orders.begin() + static_cast<std::ptrdiff_t>(i));
  auto made = breed(order);
  if (!made)
    return tl::unexpected(std::move(made).error());
  delivered.push_back({order, std::move(*made)});
  auto resolved = resolve(state, std::move(delivered));
  delivered = std::move(resolved.held);
  orders.insert(orders.begin(), resolved.again.begin(), resolved.again.end());
  return std::move(resolved.accepted);
}

run_driver::run_driver(run_parts parts, run_state state,
                       std::map<candidate_id, evaluation> evaluated)
    : parts_(std::move(parts)),
      state_(std::move(state)),
      ordered_(state_.born),
      evaluated_(std::move(evaluated)) {}

expected<void> run_driver::note(const record& r) {
  if (auto applied = apply(state_, r); !applied)
    return applied;
  if (const auto* e = std::get_if<candidate_evaluated>(&r))
    evaluated_[e->evaluated.id] = e->evaluated;
  if (parts_.recorded)
    parts_.recorded(r);
  return {};
}

expected<void> run_driver::step() {
  if (!state_.started)
    return note(run_started{
        .version = "0", .experiment = "", .seed = state_.rules.seed, .search = {}});
  auto next = next_step(state_, ordered_);
  for (auto& order : next.breed) {
    ordered_ = order.id;
    orders_.orders.push_back(std::move(order));
  }
  if (next.finish)
    return note(run_finished{state_.best.empty() ? 0 : state_.best.front().id, {}});
  return happen(next);
}

expected<void> run_driver::happen(const next_steps& next) {
  const auto trained = static_cast<std::size_t>(std::ranges::count_if(
      state_.open, [](const auto& open) { return open.second.equal_to == 0; }));
  const std::size_t closing = next.close ? 1 : 0;
  const auto possible = orders_.orders.size() + next.copy.size() + closing + trained;
  if (possible == 0)
    return fail(error_kind::internal, "the run is stuck:\n" + to_text(state_));
  auto i = parts_.pick ? parts_.pick(possible) : 0;
  if (i < orders_.orders.size())
    return deliver(i);
  i -= orders_.orders.size();
  if (i < next.copy.size()) {
    const auto& c = next.copy[i];
    return note(candidate_evaluated{copy_for(c.id, evaluated_.at(c.original))});
  }
  i -= next.copy.size();
  return i < closing ? note(*next.close) : evaluate(i - closing);
}

expected<void> run_driver::deliver(std::size_t i) {
  auto accepted = orders_.carry_out(i, state_, parts_.breed);
  if (!accepted)
    return tl::unexpected(std::move(accepted).error());
  for (auto& c : *accepted)
    if (auto noted = note(candidate_born{std::move(c)}); !noted)
      return noted;
  return {};
}

/// The i-th of those open that are to be trained.
expected<void> run_driver::evaluate(std::size_t i) {
  for (const auto& [id, c] : state_.open)
    if (c.equal_to == 0 && i-- == 0)
      return note(candidate_evaluated{parts_.evaluate(c)});
  return {};
}

} // namespace clade
