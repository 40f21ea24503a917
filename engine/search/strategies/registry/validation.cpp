// The checks of [evolution], by the traits of the strategy it names and by what that
// strategy judges itself. The order of the checks is that in which people are told.
#include "engine/search/strategies/registry/validation.hpp"

#include "engine/search/bases/rungs.hpp"
#include "engine/search/core/known_points.hpp"
#include "engine/search/core/parameter_checks.hpp"
#include "engine/search/strategies/registry/automatic.hpp"
#include "engine/search/strategies/registry/registry.hpp"
#include "genome/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace clade {

namespace {

constexpr std::size_t few_objectives = 3;

std::string list_text(const std::vector<std::uint32_t>& rungs) {
  const std::string text = joined(rungs);
  return fmt::format("[{}]", text);
}

expected<const strategy_row*> named_row(const std::string& strategy) {
  if (const auto* row = row_of(strategy))
    return row;
  return tl::unexpected(
      check_word("strategy", strategy, strategy_names(), automatic_strategy).error());
}

expected<void> refuse_rungs(const evolution_params& p) {
  if (p.rungs.empty() && !p.reduction)
    return {};
  return wrong_parameter(
      p.rungs.empty() ? "reduction" : "rungs",
      p.rungs.empty() ? std::to_string(*p.reduction) : list_text(p.rungs),
      fmt::format("\"{}\" trains every candidate to the end; remove it, or take a "
                  "strategy of several fidelities, such as \"asha\"",
                  p.strategy));
}

expected<void> check_in_flight(const evolution_params& p) {
  return check_number("in_flight", p.in_flight, 1, p.population);
}

expected<void> check_rungs(const strategy_traits& traits, const evolution_params& p) {
  if (traits.rungs == rung_layout::none)
    return refuse_rungs(p);
  if (p.rungs.size() < 2 || p.rungs.front() == 0
      || std::adjacent_find(p.rungs.begin(), p.rungs.end(), std::greater_equal<>())
             != p.rungs.end())
    return wrong_parameter(
        "rungs", list_text(p.rungs),
        "they are at least two numbers of epochs that rise, such as [1, 3, 9]");
  if (auto ok = check_number("reduction", reduction_of(p), 2, 100); !ok)
    return ok;
  if (auto ok = check_number("tournament", p.tournament, 1, p.population); !ok)
    return ok;
  return traits.steady
             ? check_in_flight(p)
             : check_number("population", p.population, p.rungs.size(), most_candidates);
}

std::vector<std::uint32_t> laid_rungs(rung_layout layout, const evolution_params& p,
                                      std::uint32_t epochs,
                                      const std::vector<std::uint32_t>& fidelities) {
  constexpr std::size_t looks = 5;
  std::vector<std::uint32_t> rungs;
  if (layout == rung_layout::by_ratio)
    rungs = fidelities.empty() ? rungs_of(epochs, reduction_of(p))
                               : rungs_of(fidelities, reduction_of(p));
  else
    rungs = even_rungs(epochs, layout == rung_layout::evenly
                                   ? looks
                                   : std::max<std::size_t>(2, p.generations));
  return rungs.size() < 2 ? std::vector<std::uint32_t>{1, epochs} : rungs;
}

// Checks the parameters that every strategy may be given, whether it reads them or not.
expected<void> check_shared(const evolution_params& p) {
  if (auto ok = check_number("population", p.population, 1, most_candidates); !ok)
    return ok;
  if (auto ok = check_number("generations", p.generations, 1, most_candidates); !ok)
    return ok;
  if (auto ok =
          check_word("selection", p.selection, {"tournament", "truncation", "lexicase"});
      !ok)
    return ok;
  if (auto ok = check_word("tell_order", p.tell_order, {"asked", "arrived"}); !ok)
    return ok;
  if (!(p.truncation > 0 && p.truncation <= 1))
    return wrong_parameter("truncation", to_text(value{p.truncation}),
                           "it is a share, above 0 and at most 1");
  if (!(p.crossover >= 0 && p.crossover <= 1))
    return wrong_parameter("crossover", to_text(value{p.crossover}),
                           "it is a chance, from 0 to 1");
  return {};
}

std::string name_of_strategy_for(objective_count objectives) {
  const auto rows = strategy_rows();
  const auto has = [&](const strategy_row& r) {
    return r.traits.objectives == objectives;
  };
  return std::string(std::ranges::find_if(rows, has)->name);
}

} // namespace

expected<void> validate(const evolution_params& params) {
  const auto row = named_row(params.strategy);
  if (!row)
    return tl::unexpected(row.error());
  if (auto ok = check_shared(params); !ok)
    return ok;
  // Parameters that only one strategy reads are checked for that one alone, so that their
  // defaults are in nobody else's way.
  const auto& traits = (*row)->traits;
  if (const auto own = (*row)->validate; own != nullptr)
    if (auto ok = own(params); !ok)
      return ok;
  if (traits.steady && traits.rungs == rung_layout::none)
    if (auto ok = check_in_flight(params); !ok)
      return ok;
  if (auto ok = check_rungs(traits, params); !ok)
    return ok;
  if (params.zero_cost && !has_trait(params, &strategy_traits::scores))
    return wrong_parameter(
        "zero_cost", "true",
        fmt::format("it needs the model of strategy = \"surrogate\", and this is \"{}\"",
                    params.strategy));
  if (auto ok = check_known_points(params); !ok)
    return ok;
  return validate(params.mutation);
}

expected<void> complete_rungs(evolution_params& params, std::uint32_t epochs,
                              std::vector<std::uint32_t> fidelities) {
  const auto row = named_row(params.strategy);
  if (!row)
    return tl::unexpected(row.error());
  const auto& traits = (*row)->traits;
  if (traits.rungs == rung_layout::none)
    return refuse_rungs(params);
  const auto reduction = reduction_of(params);
  if (params.rungs.empty()) {
    if (epochs < 2)
      return wrong_parameter(
          "strategy", fmt::format("\"{}\"", params.strategy),
          "it compares candidates before they are trained to the end, and that is after "
          "1 epoch; raise the number of epochs, or take \"regularized\"");
    params.rungs = laid_rungs(traits.rungs, params, epochs, fidelities);
  }
  if (!params.reduction)
    params.reduction =
        traits.rungs == rung_layout::by_ratio ? reduction_by(params.rungs) : reduction;
  if (auto ok = check_rungs(traits, params); !ok)
    return ok;
  if (params.rungs.back() != epochs)
    return wrong_parameter(
        "rungs", list_text(params.rungs),
        fmt::format("the last must be that of a full training, which has {}{}", epochs,
                    epochs == 1 ? " epoch" : " epochs"));
  return {};
}

expected<void> check_space(const std::string& strategy, const search_space& space) {
  const auto row = named_row(strategy);
  if (!row)
    return tl::unexpected(row.error());
  return (*row)->serves == nullptr ? expected<void>{} : (*row)->serves(space);
}

expected<void> check_strategy(const evolution_params& params, const search_space& space,
                              const objective& goal) {
  if (auto ok = validate(params); !ok)
    return ok;
  const auto& row = *row_of(params.strategy);
  if (row.parts != nullptr)
    for (const auto& part : row.parts(params))
      if (auto ok = check_strategy(part, space, goal); !ok)
        return ok;
  const auto objectives = 1 + goal.others.size();
  if (objectives > 1 && row.traits.objectives == objective_count::one)
    return wrong_parameter(
        "strategy", fmt::format("\"{}\"", params.strategy),
        fmt::format("it raises one objective and the experiment has {}, which strategy = "
                    "\"{}\" weighs against each other",
                    objectives,
                    name_of_strategy_for(objectives > few_objectives
                                             ? objective_count::many
                                             : objective_count::few)));
  if (auto ok = check_space(params.strategy, space); !ok || row.fits == nullptr)
    return ok;
  return row.fits(params, space);
}

} // namespace clade
