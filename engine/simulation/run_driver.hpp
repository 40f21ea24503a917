#pragma once

#include "engine/run/steps/next_step.hpp"

#include <functional>
#include <map>
#include <vector>

namespace clade {

/// Carries out an order.
using breeder = std::function<expected<candidate>(const breeding&)>;

/// Orders that are not carried out, and what came of others and is not resolved.
struct open_orders {
  std::vector<breeding> orders{};
  std::vector<bred> delivered{};

  /// Carries out the i-th order and resolves what is delivered: returns the candidates to be
  /// recorded as born, and has again those orders that are to be carried out again.
  [[nodiscard]] expected<std::vector<candidate>>
  carry_out(std::size_t i, const run_state& state, const breeder& breed);
};

/// The parts that a run's driver is given to work with.
struct run_parts {
  breeder breed;
  std::function<evaluation(const candidate&)> evaluate;
  /// Chooses one of n things that may happen next; empty: the first. Orders are carried
  /// out first, then copies made, then generations closed, then the oldest open candidate
  /// evaluated, so that what happens is a function of the fold alone.
  std::function<std::size_t(std::size_t)> pick;
  /// Hears of each record that was applied; may be empty.
  std::function<void(const record&)> recorded;
};

/// Breeds as a run of these rules does; they outlive it.
[[nodiscard]] breeder breeder_of(const run_rules& rules, const problem& problem);

/// A whole run in one thread, without actors, files or processes. It keeps what a head
/// process would have under way: orders that generators carry out, candidates that came
/// back and are not resolved, evaluations of which copies may be made. All else is in the
/// state. One thing happens at a time, and is applied before the next.
class run_driver {
public:
  /// Goes on from a state; `evaluated` are the evaluations recorded before.
  run_driver(run_parts parts, run_state state,
             std::map<candidate_id, evaluation> evaluated = {});

  /// Does one thing. An error: a genome could not be bred, or the strategy contradicts
  /// itself, or nothing can happen although the run is not over.
  [[nodiscard]] expected<void> step();

  [[nodiscard]] const run_state& state() const { return state_; }
  [[nodiscard]] run_state take() && { return std::move(state_); }

  /// Applies a record from without, such as a person's order.
  [[nodiscard]] expected<void> note(const record& r);

private:
  [[nodiscard]] expected<void> happen(const next_steps& next);
  [[nodiscard]] expected<void> deliver(std::size_t i);
  [[nodiscard]] expected<void> evaluate(std::size_t i);

  run_parts parts_;
  run_state state_;
  candidate_id ordered_ = 0;
  open_orders orders_;
  std::map<candidate_id, evaluation> evaluated_;
};

} // namespace clade
