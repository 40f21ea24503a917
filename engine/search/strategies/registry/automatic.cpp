#include "engine/search/strategies/registry/automatic.hpp"

#include "engine/search/strategies/registry/validation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace clade {

namespace {

constexpr std::size_t few_objectives = 3;
constexpr std::size_t too_few_to_learn_from = 20;
constexpr std::size_t worth_a_model = 2'000;

struct rule {
  const char* strategy;
  bool (*applies)(const search_task& task);
  std::string (*why)(const search_task& task);
};

std::string count(std::size_t n, const char* what) {
  return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
}

std::string front(const search_task& task) {
  return count(task.objectives, "objective") + " have no single best";
}

constexpr std::array rules{
    rule{"nsga3",
         [](const search_task& task) { return task.objectives > few_objectives; }, front},
    rule{"surrogate",
         [](const search_task& task) {
           return task.objectives > 1 && task.budget <= worth_a_model;
         },
         [](const search_task& task) {
           return fmt::format(
               "{}, and with {} models that screen children save trainings", front(task),
               count(task.budget, "evaluation"));
         }},
    rule{"nsga2", [](const search_task& task) { return task.objectives > 1; }, front},
    rule{"multi_fidelity",
         [](const search_task& task) {
           return task.fidelities && task.budget >= too_few_to_learn_from
                  && task.budget <= worth_a_model;
         },
         [](const search_task& task) {
           return fmt::format("with rungs and {} a model learns from short trainings "
                              "which ones to go on with",
                              count(task.budget, "evaluation"));
         }},
    rule{"asha", [](const search_task& task) { return task.fidelities; },
         [](const search_task&) -> std::string {
           return "there are rungs, on which most trainings can be stopped early";
         }},
    rule{"regularized",
         [](const search_task& task) {
           return task.seeds && task.budget < too_few_to_learn_from;
         },
         [](const search_task& task) {
           return count(task.budget, "evaluation")
                  + " are few, and the space has networks to begin with";
         }},
    rule{"random",
         [](const search_task& task) { return task.budget < too_few_to_learn_from; },
         [](const search_task& task) {
           return fmt::format("{}{} too few to learn from",
                              count(task.budget, "evaluation"),
                              task.budget == 1 ? " is" : " are");
         }},
    rule{"surrogate",
         [](const search_task& task) { return task.budget <= worth_a_model; },
         [](const search_task& task) {
           return fmt::format("with {} a model that screens children saves trainings",
                              count(task.budget, "evaluation"));
         }},
    rule{"regularized", [](const search_task&) { return true; },
         [](const search_task& task) {
           return fmt::format(
               "for {} it is robust in any space and costs nothing beside them",
               count(task.budget, "evaluation"));
         }}};

evolution_params with(const evolution_params& params, const char* name) {
  auto p = params;
  p.strategy = name;
  p.tournament = std::min(p.tournament, p.population);
  p.in_flight = std::min(p.in_flight, p.population);
  return p;
}

/// One that is not in the table can only be a test's.
bool serves(const std::string& strategy, const search_space& space) {
  return row_of(strategy) == nullptr || check_space(strategy, space).has_value();
}

} // namespace

chosen_strategy choose_strategy(const evolution_params& params, const search_space& space,
                                const search_task& task,
                                const std::vector<std::string>& available) {
  const auto fits = [&](const rule& r) {
    return r.applies(task) && std::ranges::find(available, r.strategy) != available.end()
           && serves(r.strategy, space);
  };
  const auto found = std::ranges::find_if(rules, fits);
  // A fault of the parameters that every strategy would have is said of the last one.
  const rule& r = found == rules.end() ? rules.back() : *found;
  return {with(params, r.strategy), fmt::format("{}: {}", r.strategy, r.why(task))};
}

} // namespace clade
