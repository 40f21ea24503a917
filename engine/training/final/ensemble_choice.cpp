#include "engine/training/final/ensemble_choice.hpp"

#include "engine/run/steps/final_choice.hpp"
#include "engine/training/network/data_folds.hpp"
#include "genome/base/text.hpp"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace clade {
namespace {

constexpr std::int64_t few_validation_examples = 1'000;

/// Returns the limit that `behind` misses, where the two miss the limits by different
/// amounts; else the first aim tells them apart.
const constraint* deciding_limit(const evaluation& behind, const evaluation& ahead,
                                 const objective& goal) {
  const auto f = fitness_of(behind, goal), g = fitness_of(ahead, goal);
  if (!f.ok || f.violation == g.violation)
    return nullptr;
  const auto missed = std::ranges::find_if(goal.constraints, [&](const constraint& c) {
    const double v = measured(behind, c.metric).value_or(c.limit);
    return c.at_most ? v > c.limit : v < c.limit;
  });
  return missed == goal.constraints.end() ? nullptr : &*missed;
}

/// "parameters 78 against 3,694, where at most 300 is asked for"
std::string compared_text(const evaluation& behind, const evaluation& ahead,
                          const objective& goal) {
  const auto* limit = deciding_limit(behind, ahead, goal);
  const auto& metric = limit == nullptr ? goal.metric : limit->metric;
  const auto text = [&](double v) {
    return metric == parameters_metric ? with_commas(static_cast<std::uint64_t>(v))
                                       : metric_text(v);
  };
  return fmt::format(
      "{} {} against {}{}", metric, text(measured(ahead, metric).value_or(0)),
      text(measured(behind, metric).value_or(0)),
      limit == nullptr
          ? ""
          : fmt::format(", where {} {} is asked for",
                        limit->at_most ? "at most" : "at least", text(limit->limit)));
}

} // namespace

double ensemble::share_of(std::size_t bag) const {
  return chosen[bag] / std::accumulate(chosen.begin(), chosen.end(), 0.0);
}

ensemble_choice::ensemble_choice(const training_context& context, model_gathering& models)
    : data_(context.data()),
      models_(models),
      goal_(context.setup().goal),
      seed_(context.setup().seed) {}

ensemble_choice::comparison ensemble_choice::compared(std::vector<std::size_t> bags,
                                                      const at::Tensor& part) const {
  comparison found{.bags = std::move(bags), .part = part};
  for (const auto i : found.bags) {
    const auto& bag = models_.bags[i];
    found.singles.push_back(models_.measured(
        bag.said, bag.costs, {.least = models_.least_probability()}, part));
  }
  return found;
}

// Networks that the search chose by the validation part, epoch by epoch and among many,
// look better on it than they are. If it is small, that is more than the difference
// between models, and those that were trained without the examples that judge them are
// enough.
std::vector<bool> ensemble_choice::judged_well() const {
  const auto& bags = models_.bags;
  const bool others_do = std::ranges::any_of(
      bags, [](const model_bag& bag) { return bag.cross_judged || bag.has_folds(); });
  const bool few = data_.validation.size(0) < few_validation_examples;
  std::vector<bool> well;
  for (const auto& bag : bags)
    well.push_back(!few || !others_do || bag.members.empty() || bag.has_folds());
  return well;
}

validation_answers ensemble_choice::answers_of(const model_bag& bag,
                                               const at::Tensor& part) const {
  const auto targets = data_.targets.index_select(0, part);
  const auto rows = bag.said.index_select(0, part);
  const auto answers =
      (data_.task.has_classes()  ? rows.gather(1, targets.unsqueeze(1)).squeeze(1)
       : data_.task.has_labels() ? (rows * (2 * targets - 1)).flatten()
                                 : (rows - targets).flatten())
          .to(at::kDouble)
          .cpu()
          .contiguous();
  const auto* first = answers.const_data_ptr<double>();
  return {first, first + answers.numel()};
}

at::Tensor ensemble_choice::mean_of(const ensemble& e) const {
  auto said = models_.empty_answers();
  for (std::size_t i = 0; i < e.chosen.size(); ++i)
    if (e.chosen[i] != 0)
      said += models_.bags[i].said * e.share_of(i);
  return said;
}

ensemble ensemble_choice::mixed(const std::vector<std::uint32_t>& chosen,
                                const at::Tensor& part) const {
  ensemble e{.chosen = chosen, .said = {}, .costs = {}};
  e.said = mean_of(e);
  for (std::size_t i = 0; i < chosen.size(); ++i)
    if (chosen[i] != 0)
      add_costs(e.costs, models_.bags[i]);
  e.how.least = models_.least_probability();
  e.measured = models_.measured(e.said, e.costs, e.how, part);
  return e;
}

ensemble ensemble_choice::calibrated(const std::vector<std::uint32_t>& chosen,
                                     const at::Tensor& part) const {
  auto e = mixed(chosen, part);
  e.how.temperature = models_.temperature_of(e.said, e.costs, part);
  if (e.how.temperature != 1)
    e.measured = models_.measured(e.said, e.costs, e.how, part);
  return e;
}

ensemble ensemble_choice::of_lowest_loss(const comparison& among) const {
  std::vector<validation_answers> answers;
  for (const auto i : among.bags)
    answers.push_back(answers_of(models_.bags[i], among.part));
  answer_loss loss(data_.task.loss);
  if (data_.task.has_quantiles())
    loss.scales = data_.target_scales;
  const auto selected = select_from_samples(answers, loss, seed_);
  std::vector<std::uint32_t> chosen(models_.bags.size(), 0);
  for (std::size_t k = 0; k < selected.size(); ++k)
    chosen[among.bags[k]] = selected[k];
  return std::ranges::all_of(chosen, [](auto c) { return c == 0; })
             ? ensemble{.chosen = {}, .said = {}, .costs = {}}
             : calibrated(chosen, among.part);
}

ensemble ensemble_choice::grown_from(std::size_t single, const comparison& among) const {
  const auto of_all = [&](std::span<const std::uint32_t> counts) {
    std::vector<std::uint32_t> chosen(models_.bags.size(), 0);
    for (std::size_t k = 0; k < counts.size(); ++k)
      chosen[among.bags[k]] = counts[k];
    return chosen;
  };
  const auto measure =
      [&](std::span<const std::uint32_t> counts) -> std::optional<evaluation> {
    if (models_.out_of_time())
      return std::nullopt;
    return mixed(of_all(counts), among.part).measured;
  };
  auto grown = calibrated(
      of_all(grow_ensemble(among.bags.size(), single, goal_, measure)), among.part);
  if (!is_behind(grown.measured, among.singles[single], goal_))
    return grown;
  std::vector<std::uint32_t> alone(among.bags.size(), 0);
  alone[single] = 1;
  return calibrated(of_all(alone), among.part);
}

std::string ensemble_choice::words_for(const evaluation& behind, std::size_t single,
                                       const comparison& among, bool clearly) const {
  const auto name = name_of(models_.bags[among.bags[single]]);
  const auto values = compared_text(behind, among.singles[single], goal_);
  const auto where =
      among.part.size(0) == data_.validation.size(0)
          ? std::string("the validation part")
          : fmt::format("{} examples of both parts, each judged by models that were "
                        "trained without it",
                        with_commas(static_cast<std::uint64_t>(among.part.size(0))));
  return clearly ? fmt::format("the ensemble of the lowest loss: on {} {} alone is ahead "
                               "of it ({})",
                               where, name, values)
                 : fmt::format("{} alone: on {} it is ahead ({}), by less than so few "
                               "examples can tell",
                               name, where, values);
}

// The luckiest of many networks that the same examples chose is further ahead than one that
// they did not choose: for those it takes half as much again.
std::optional<std::size_t> ensemble_choice::clearly_ahead(const ensemble& e,
                                                          const comparison& among) {
  const double caution = &among == &others_ ? 1.5 : 1;
  const auto own = models_.measured(e.said, e.costs, e.how, among.part);
  const auto any = best_ahead(own, among.singles, goal_);
  if (!any)
    return std::nullopt;
  const auto clearly = best_ahead(own, among.singles, goal_, [&](std::size_t single) {
    return caution
           * models_.difference_error(e.said, e.how,
                                      models_.bags[among.bags[single]].said, among.part,
                                      goal_.metric);
  });
  models_.left_out.push_back(
      words_for(own, clearly.value_or(*any), among, clearly.has_value()));
  return clearly;
}

ensemble ensemble_choice::chosen_among(const comparison& among) {
  auto e = of_lowest_loss(among);
  if (e.chosen.empty())
    return e;
  const auto ahead = clearly_ahead(e, among);
  return ahead ? grown_from(*ahead, among) : e;
}

expected<ensemble> ensemble_choice::choose() {
  const auto well = judged_well();
  std::vector<std::size_t> first, others, all;
  bool by_both = true;
  for (std::size_t i = 0; i < well.size(); ++i) {
    (well[i] ? first : others).push_back(i);
    all.push_back(i);
    by_both = by_both && (!well[i] || models_.bags[i].cross_judged);
  }
  first_ = compared(std::move(first), by_both ? both_parts(data_) : data_.validation);
  others_ = compared(std::move(others), data_.validation);
  if (!first_.singles.empty())
    goal_ = measurable_part(goal_, first_.singles.front());
  auto e = chosen_among(first_);
  if (e.chosen.empty())
    return fail(error_kind::internal, "no model says anything of the validation part");
  return clearly_ahead(e, others_)
             ? chosen_among(compared(std::move(all), data_.validation))
             : std::move(e);
}

bool ensemble_choice::judged_by_both(std::size_t bag) const {
  return first_.part.size(0) > data_.validation.size(0)
         && std::ranges::find(first_.bags, bag) != first_.bags.end();
}

const evaluation& ensemble_choice::measured(std::size_t bag) const {
  const auto found = std::ranges::find(first_.bags, bag);
  const auto& among = found == first_.bags.end() ? others_ : first_;
  return among.singles[static_cast<std::size_t>(std::ranges::find(among.bags, bag)
                                                - among.bags.begin())];
}

std::vector<std::size_t> ensemble_choice::order() const {
  std::vector<std::size_t> places;
  for (const auto* among : {&first_, &others_}) {
    std::vector<individual> ranked;
    for (const auto bag : among->bags)
      ranked.push_back({.id = bag, .fitness = fitness_of(measured(bag), goal_)});
    std::ranges::sort(ranked, fitter);
    for (const auto& place : ranked)
      places.push_back(place.id);
  }
  return places;
}

} // namespace clade
