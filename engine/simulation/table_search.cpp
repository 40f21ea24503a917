#include "engine/simulation/table_search.hpp"

#include "engine/evaluation/processor_time.hpp"
#include "engine/evaluation/table/table_fitness.hpp"
#include "engine/simulation/run_driver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace clade {

namespace {

/// One search on one table.
class table_search {
public:
  table_search(const std::shared_ptr<const benchmark_table>& table,
               const table_standard& standard, const table_search_params& params)
      : table_(*table),
        standard_(standard),
        params_(params),
        fitness_(make_table_fitness(table)),
        candidates_(params.evaluations * cheapest(params.evolution)),
        trained_(table->rows()) {
    if (standard_.front)
      front_.emplace(*standard_.front);
    auto& e = params_.evolution;
    const auto population = std::max<std::size_t>(e.population, 1);
    e.generations = (candidates_ + population - 1) / population;
  }

  expected<table_search_result> run();

private:
  /// How many candidates a full training pays for at most.
  static std::size_t cheapest(const evolution_params& e) {
    return e.rungs.empty() ? 1 : e.rungs.back() / std::max(e.rungs.front(), 1U) + 1;
  }
  [[nodiscard]] run_parts parts();
  [[nodiscard]] expected<void> extend(run_driver& driver);
  evaluation evaluate(const candidate& c);
  void account(const candidate& c, const evaluation& e);
  [[nodiscard]] double regret() const {
    if (front_)
      return front_->regret();
    return best_ ? best_->regret : std::fabs(standard_.best - standard_.worst);
  }
  [[nodiscard]] double shortfall(std::uint32_t row) const;

  struct incumbent {
    std::size_t fidelity = 0;
    fitness value;
    double regret = 0;
  };

  const benchmark_table& table_;
  const table_standard& standard_;
  table_search_params params_;
  std::unique_ptr<fitness_function> fitness_;
  /// The number of candidates that there may be, but for copies.
  std::size_t candidates_ = 0;
  table_search_result result_;
  std::vector<std::uint32_t> trained_; ///< The epochs that are paid for, of each row.
  std::optional<incumbent> best_;
  std::optional<found_front> front_; ///< The front of several objectives.
  double spent_ = 0;
  double evaluating_seconds_ = 0;
  std::size_t copies_ = 0, extended_ = 0;
  /// The seconds of the engine: at the last candidate, and all.
  double since_ = 0, asking_seconds_ = 0;
};

double table_search::shortfall(std::uint32_t row) const {
  const auto truth = table_.truth(row);
  const auto worth = truth && std::isfinite(*truth) ? *truth : standard_.worst;
  return std::fabs(standard_.best - worth);
}

evaluation table_search::evaluate(const candidate& c) {
  const auto start = thread_seconds();
  unheard_progress listening;
  auto e = fitness_
               ->evaluate({.id = c.id,
                           .genome = *c.genome,
                           .seed = params_.seed,
                           .budget = {.epochs = budget_epochs({.epochs = c.epochs})}},
                          listening)
               .evaluation;
  account(c, e);
  evaluating_seconds_ += thread_seconds() - start;
  return e;
}

void table_search::account(const candidate& c, const evaluation& e) {
  const auto& d = table_.description();
  const auto most = d.fidelities.back();
  const auto at = table_.fidelity(budget_epochs({.epochs = c.epochs})).value_or(0);
  const auto epochs = d.fidelities[at];
  const auto row = table_.find(*c.genome);
  std::uint32_t before = 0;
  if (row) {
    auto& trained = trained_[*row];
    if (epochs <= trained || !d.separate)
      before = std::min(trained, epochs);
    trained = std::max(trained, epochs);
  }
  const auto ended = spent_ + static_cast<double>(epochs - before) / most;
  // The regret by what was known before this one ended.
  constexpr double rounding = 1e-9;
  while (static_cast<double>(result_.regret.size() + 1) < ended - rounding
         && result_.regret.size() < params_.evaluations)
    result_.regret.push_back(regret());
  spent_ = ended;
  const auto value = fitness_of(e, standard_.goal);
  if (row && value.ok
      && (!best_ || at > best_->fidelity
          || (at == best_->fidelity && value.primary > best_->value.primary)))
    best_ = incumbent{at, value, shortfall(*row)};
  if (front_ && row && value.ok && at + 1 == table_.fidelities())
    front_->add(*row);
  if (row && standard_.top[*row] && at + 1 == table_.fidelities()) {
    if (!result_.first_top)
      result_.first_top = spent_;
    if (!result_.first_best && table_.truth(*row) == standard_.best)
      result_.first_best = spent_;
  }
  while (static_cast<double>(result_.regret.size() + 1) <= ended + rounding
         && result_.regret.size() < params_.evaluations)
    result_.regret.push_back(regret());
}

run_parts table_search::parts() {
  return {.breed =
              [this, problem = table_problem()](const breeding& order) {
                return breed({table_.description().space, problem,
                              params_.evolution.mutation, params_.seed},
                             order);
              },
          .evaluate = [this](const candidate& c) { return evaluate(c); },
          .pick = {},
          .recorded =
              [this](const record& r) {
                const auto* e = std::get_if<candidate_evaluated>(&r);
                if (e == nullptr)
                  return;
                ++result_.candidates;
                if (e->evaluated.equal_to != 0)
                  ++copies_;
              }};
}

/// A generation more for as many copies as it has candidates.
expected<void> table_search::extend(run_driver& driver) {
  if (copies_ <= extended_ * params_.evolution.population || driver.state().finished)
    return {};
  ++extended_;
  return driver.note(operator_command{
      .order = {.kind = instruction_kind::extend, .number = 1}, .who = "bench"});
}

expected<table_search_result> table_search::run() {
  auto state = make_run_state(
      {.evolution = params_.evolution,
       .objective = standard_.goal,
       .seed = params_.seed,
       .space = std::make_shared<const search_space>(table_.description().space)});
  if (!state)
    return tl::unexpected(std::move(state).error());
  run_driver driver(parts(), std::move(*state));
  // A small table may have nothing left but copies.
  const auto most = candidates_ + 20 * params_.evaluations + 1000;
  while (!driver.state().finished && result_.candidates < most
         && result_.regret.size() < params_.evaluations) {
    const auto candidates = result_.candidates;
    const auto start = thread_seconds(), evaluated = evaluating_seconds_;
    if (auto done = driver.step(); !done)
      return tl::unexpected(std::move(done).error());
    asking_seconds_ += thread_seconds() - start - (evaluating_seconds_ - evaluated);
    if (result_.candidates > candidates) {
      result_.ask_max_seconds =
          std::max(result_.ask_max_seconds, asking_seconds_ - since_);
      since_ = asking_seconds_;
    }
    if (auto done = extend(driver); !done)
      return tl::unexpected(std::move(done).error());
  }
  if (result_.candidates > 0)
    result_.ask_mean_seconds = asking_seconds_ / static_cast<double>(result_.candidates);
  result_.regret.resize(params_.evaluations, regret());
  return std::move(result_);
}

} // namespace

expected<table_standard> standard_of(const benchmark_table& table,
                                     std::span<const aim> others) {
  auto goal = objective_of(table.description(), others);
  if (!goal)
    return tl::unexpected(std::move(goal).error());
  const bool maximize = table.description().objective.maximize;
  std::vector<double> truths;
  for (std::uint32_t row = 0; row < table.rows(); ++row)
    if (const auto t = table.truth(row); t && std::isfinite(*t))
      truths.push_back(maximize ? -*t : *t);
  if (truths.empty())
    return fail(error_kind::invalid_input,
                fmt::format("{}: no row has a finite {}", table.description().name,
                            table.description().truth));
  std::ranges::sort(truths);
  const auto sign = maximize ? -1.0 : 1.0;
  const auto limit = truths[std::min(table_standard::top_rows, truths.size()) - 1];
  table_standard s{
      .best = sign * truths.front(), .worst = sign * truths.back(), .top = {}};
  s.goal = std::move(*goal);
  if (!s.goal.others.empty()) {
    auto front = front_of(table, s.goal);
    if (!front)
      return tl::unexpected(std::move(front).error());
    s.front = std::move(*front);
  }
  for (std::uint32_t row = 0; row < table.rows(); ++row) {
    const auto t = table.truth(row);
    s.top.push_back(t && std::isfinite(*t) && sign * *t <= limit);
  }
  return s;
}

expected<table_search_result>
search_table(const std::shared_ptr<const benchmark_table>& table,
             const table_standard& standard, const table_search_params& params) {
  return table_search(table, standard, params).run();
}

} // namespace clade
