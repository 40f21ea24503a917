// The driver's steps are timed, and what its parts took is taken off: breeding is counted
// for the candidate bred, evaluating is not counted, and the rest is the head's, from one
// evaluation recorded to the next.
#include "engine/simulation/ask_cost.hpp"

#include "engine/evaluation/processor_time.hpp"
#include "engine/evaluation/synthetic/synthetic.hpp"
#include "engine/search/strategies/registry/validation.hpp"
#include "engine/simulation/run_driver.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace clade {

namespace {

/// Returns the order that stands in for a proposal that is not asked.
breeding without_model(breeding order) {
  order.how = order.parents.empty() ? breeding::kind::sample : breeding::kind::mutate;
  order.parents.resize(std::min<std::size_t>(order.parents.size(), 1));
  return order;
}

class measured_search {
public:
  explicit measured_search(const ask_cost_params& params)
      : params_(params),
        epochs_(params.evolution.rungs.empty() ? 1 : params.evolution.rungs.back()),
        fitness_(make_synthetic({.params = {.epochs = epochs_},
                                 .space = *params.space,
                                 .problem = params.problem,
                                 .goal = params.objective})) {
    auto& e = params_.evolution;
    e.generations = (params_.evaluations + e.population - 1) / e.population;
  }

  expected<ask_cost> run();

private:
  expected<candidate> carry_out(const breeding& order);
  evaluation evaluate(const candidate& c);
  void recorded(const record& r);

  ask_cost_params params_;
  std::uint32_t epochs_;
  std::unique_ptr<fitness_function> fitness_;
  double elsewhere_ = 0, spent_ = 0; ///< Breeding and evaluating; on the head.
  /// The part of `spent_` that was billed to candidates so far.
  double billed_ = 0;
  bool evaluated_ = false; ///< In this step.
  std::size_t proposals_ = 0;
  std::map<candidate_id, double> bred_;
  std::vector<double> head_, breeding_; ///< The times of each candidate.
};

expected<candidate> measured_search::carry_out(const breeding& order) {
  const bool proposed = order.how == breeding::kind::propose;
  const bool asked =
      params_.modelled == 0 || order.id + params_.modelled > params_.evaluations;
  proposals_ += proposed && asked ? 1 : 0;
  const auto start = thread_seconds();
  auto made =
      breed({*params_.space, params_.problem, params_.evolution.mutation, params_.seed},
            proposed && !asked ? without_model(order) : order);
  const auto seconds = thread_seconds() - start;
  bred_[order.id] += seconds;
  elsewhere_ += seconds;
  return made;
}

evaluation measured_search::evaluate(const candidate& c) {
  const auto start = thread_seconds();
  unheard_progress listening;
  auto e = fitness_
               ->evaluate({.id = c.id,
                           .genome = *c.genome,
                           .seed = params_.seed,
                           .budget = {.epochs = c.epochs != 0 ? c.epochs : epochs_},
                           .start = c.start,
                           .start_epoch = c.start_epoch},
                          listening)
               .evaluation;
  elsewhere_ += thread_seconds() - start;
  return e;
}

void measured_search::recorded(const record& r) {
  const auto* e = std::get_if<candidate_evaluated>(&r);
  if (e == nullptr)
    return;
  evaluated_ = true;
  const auto bred = bred_.extract(e->evaluated.id);
  breeding_.push_back(bred ? bred.mapped() : 0);
}

expected<ask_cost> measured_search::run() {
  auto state = make_run_state({.evolution = params_.evolution,
                               .objective = params_.objective,
                               .seed = params_.seed,
                               .space = params_.space});
  if (!state)
    return tl::unexpected(std::move(state).error());
  run_driver driver({.breed = [this](const breeding& o) { return carry_out(o); },
                     .evaluate = [this](const candidate& c) { return evaluate(c); },
                     .pick = {},
                     .recorded = [this](const record& r) { recorded(r); }},
                    std::move(*state));
  const auto begin = thread_seconds();
  while (!driver.state().finished) {
    const auto start = thread_seconds(), before = elsewhere_;
    if (auto done = driver.step(); !done)
      return tl::unexpected(std::move(done).error());
    spent_ += thread_seconds() - start - (elsewhere_ - before);
    if (!std::exchange(evaluated_, false))
      continue;
    head_.push_back(spent_ - billed_);
    billed_ = spent_;
  }
  ask_cost cost{.candidates = head_.size(),
                .proposals = proposals_,
                .seconds = thread_seconds() - begin};
  const auto last = [&](const std::vector<double>& all) {
    const auto n = std::clamp<std::size_t>(params_.measured, 1, all.size());
    return spread_of({all.end() - static_cast<std::ptrdiff_t>(n), all.end()});
  };
  cost.head = last(head_);
  cost.breeding = last(breeding_);
  return cost;
}

} // namespace

cost_spread spread_of(std::vector<double> values) {
  std::ranges::sort(values);
  const auto n = static_cast<double>(values.size());
  const auto place = static_cast<std::size_t>(std::ceil(0.99 * n)) - 1;
  return {.mean = std::accumulate(values.begin(), values.end(), 0.0) / n,
          .p99 = values[place],
          .most = values.back()};
}

expected<ask_cost> measure_ask_cost(const ask_cost_params& params) {
  if (auto fits = check_strategy(params.evolution, *params.space, params.objective);
      !fits)
    return tl::unexpected(std::move(fits).error());
  if (params.evaluations == 0)
    return fail(error_kind::invalid_input, "a search without evaluations has no cost");
  return measured_search(params).run();
}

} // namespace clade
