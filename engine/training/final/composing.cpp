// An ensemble is chosen by its loss. If a single model is ahead of it by the run's own
// objective, another is grown by the objective from that model, and is never behind it.
#include "engine/training/final/composing.hpp"

#include "engine/run/steps/final_choice.hpp"
#include "engine/training/final/failure.hpp"
#include "engine/training/final/model_bags.hpp"
#include "engine/training/metrics/ensemble_selection.hpp"
#include "genome/base/text.hpp"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace clade {
namespace {

constexpr std::int64_t few_validation_examples = 1'000;

using counts = std::vector<std::uint32_t>;

double sum_of(const counts& chosen) {
  double total = 0;
  for (const auto c : chosen)
    total += c;
  return total;
}

/// An ensemble, how it is calibrated, and its metrics on the validation part.
struct ensemble {
  counts chosen;
  at::Tensor said;
  evaluation costs;
  score_calibration how{};
  evaluation measured;
};

class composer {
public:
  composer(training_context& context, model_gathering& models,
           composition_purpose purpose)
      : purpose_(purpose),
        data_(context.data()),
        goal_(context.setup().goal),
        seed_(context.setup().seed),
        models_(models),
        least_(models.least_probability()) {}

  [[nodiscard]] expected<composition> compose();

private:
  [[nodiscard]] std::vector<bool> judged_well() const;
  [[nodiscard]] validation_answers answers_of(const model_bag& bag) const;
  [[nodiscard]] counts of_lowest_loss() const;
  [[nodiscard]] at::Tensor mean_of(const counts& chosen) const;
  [[nodiscard]] ensemble mixed(std::span<const std::uint32_t> chosen) const;
  [[nodiscard]] ensemble calibrated(std::span<const std::uint32_t> chosen) const;
  [[nodiscard]] ensemble never_behind(ensemble first);
  [[nodiscard]] std::string words_for(const ensemble& behind, std::size_t ahead) const;
  [[nodiscard]] std::vector<ranked_model> ranked(const ensemble& e) const;
  [[nodiscard]] std::optional<column_importances> importances(const ensemble& e) const;
  [[nodiscard]] bool tested(const ensemble& e);
  [[nodiscard]] composition composed(const ensemble& e);

  composition_purpose purpose_;
  const device_data& data_;
  objective goal_;
  std::uint64_t seed_;
  model_gathering& models_;
  double least_; ///< The least probability of a class, whatever is composed.
  std::vector<evaluation> singles_; ///< The evaluations of each bag alone.
};

// Networks that the search chose by the validation part, epoch by epoch and among many,
// look better on it than they are. If it is small, that is more than the difference
// between models, and those that were trained without the examples that judge them are
// enough.
std::vector<bool> composer::judged_well() const {
  const auto& bags = models_.bags;
  const bool folds_only = std::ranges::any_of(bags, &model_bag::has_folds)
                          && data_.validation.size(0) < few_validation_examples;
  std::vector<bool> well;
  for (const auto& bag : bags)
    well.push_back(!folds_only || bag.members.empty() || bag.has_folds());
  return well;
}

validation_answers composer::answers_of(const model_bag& bag) const {
  const auto targets = data_.targets.index_select(0, data_.validation);
  const auto rows = bag.said.index_select(0, data_.validation);
  const auto answers =
      (data_.task.has_classes() ? rows.gather(1, targets.unsqueeze(1)).squeeze(1)
                                : (rows - targets).flatten())
          .to(at::kDouble)
          .cpu()
          .contiguous();
  const auto* first = answers.const_data_ptr<double>();
  return {first, first + answers.numel()};
}

counts composer::of_lowest_loss() const {
  const auto well = judged_well();
  std::vector<validation_answers> answers;
  for (std::size_t i = 0; i < models_.bags.size(); ++i)
    if (well[i])
      answers.push_back(answers_of(models_.bags[i]));
  const auto selected = select_ensemble(answers, data_.task.loss);
  counts chosen(models_.bags.size(), 0);
  for (std::size_t i = 0, next = 0; i < chosen.size(); ++i)
    if (well[i])
      chosen[i] = selected[next++];
  return chosen;
}

at::Tensor composer::mean_of(const counts& chosen) const {
  auto said = models_.empty_answers();
  const auto total = sum_of(chosen);
  for (std::size_t i = 0; i < chosen.size(); ++i)
    if (chosen[i] != 0)
      said += models_.bags[i].said * (chosen[i] / total);
  return said;
}

ensemble composer::mixed(std::span<const std::uint32_t> chosen) const {
  ensemble e{.chosen = {chosen.begin(), chosen.end()}};
  e.said = mean_of(e.chosen);
  for (std::size_t i = 0; i < chosen.size(); ++i)
    if (chosen[i] != 0)
      add_costs(e.costs, models_.bags[i]);
  e.how.least = least_;
  e.measured = models_.measured(e.said, e.costs, e.how);
  return e;
}

ensemble composer::calibrated(std::span<const std::uint32_t> chosen) const {
  auto e = mixed(chosen);
  auto how = e.how;
  how.temperature = models_.temperature_of(e.said, e.costs);
  if (how.temperature == 1)
    return e;
  auto with = models_.measured(e.said, e.costs, how);
  if (best_ahead(with, singles_, goal_))
    return e;
  e.how = how;
  e.measured = std::move(with);
  return e;
}

std::string composer::words_for(const ensemble& behind, std::size_t ahead) const {
  const auto& single = singles_[ahead];
  const auto f = fitness_of(behind.measured, goal_), g = fitness_of(single, goal_);
  auto differing = goal_.metric;
  if (f.ok && f.violation != g.violation) {
    const auto missed = std::ranges::find_if(goal_.constraints, [&](const constraint& c) {
      const double v = measured(behind.measured, c.metric).value_or(c.limit);
      return c.at_most ? v > c.limit : v < c.limit;
    });
    if (missed != goal_.constraints.end())
      differing = missed->metric;
  }
  const auto value_of = [&](const evaluation& e) {
    return metric_text(measured(e, differing).value_or(0));
  };
  return fmt::format(
      "the ensemble of the lowest loss: on the validation part {} alone is "
      "ahead of it ({} {} against {})",
      name_of(models_.bags[ahead]), differing, value_of(single),
      value_of(behind.measured));
}

ensemble composer::never_behind(ensemble first) {
  const auto ahead = best_ahead(first.measured, singles_, goal_);
  if (!ahead)
    return first;
  models_.left_out.push_back(words_for(first, *ahead));
  const auto measure =
      [&](std::span<const std::uint32_t> chosen) -> std::optional<evaluation> {
    if (models_.out_of_time())
      return std::nullopt;
    return mixed(chosen).measured;
  };
  auto grown = calibrated(grow_ensemble(models_.bags.size(), *ahead, goal_, measure));
  if (!best_ahead(grown.measured, singles_, goal_))
    return grown;
  counts alone(models_.bags.size(), 0);
  alone[*ahead] = 1;
  return calibrated(alone);
}

std::vector<ranked_model> composer::ranked(const ensemble& e) const {
  const auto total = sum_of(e.chosen);
  std::vector<individual> order;
  for (std::size_t i = 0; i < singles_.size(); ++i)
    order.push_back({.id = i, .fitness = fitness_of(singles_[i], goal_)});
  std::ranges::sort(order, fitter);
  std::vector<ranked_model> out;
  for (const auto& place : order) {
    const auto& bag = models_.bags[place.id];
    const auto& measured = singles_[place.id];
    ranked_model one{.subject = name_of(bag),
                     .id = bag.members.empty() ? 0 : bag.members.front()->id,
                     .metrics = of_validation(measured.metrics),
                     .parameters = measured.parameters,
                     .share = e.chosen[place.id] / total};
    std::erase_if(one.metrics, [](const metric& m) { return !std::isfinite(m.value); });
    out.push_back(std::move(one));
  }
  return out;
}

std::optional<column_importances> composer::importances(const ensemble& e) const {
  constexpr std::chrono::seconds most{10};
  const auto goal = of_epochs(goal_);
  if (data_.features.dim() != 2 || !goal.metric.starts_with("validation."))
    return std::nullopt;
  const auto total = sum_of(e.chosen);
  const asked_model says = [&](const at::Tensor& x, const at::Tensor& which) {
    at::Tensor out;
    for (std::size_t i = 0; i < e.chosen.size(); ++i) {
      if (e.chosen[i] == 0)
        continue;
      const auto said = models_.ask(models_.bags[i], x, which) * (e.chosen[i] / total);
      out = out.defined() ? out + said : said;
    }
    return out;
  };
  const answers_measure measure = [&](const at::Tensor& said, const at::Tensor& which) {
    const double v =
        measured(models_.measured(said, which, e.how), goal.metric).value_or(NAN);
    return goal.maximize ? -v : v;
  };
  return importance_of_columns(
      data_, says, measure, goal.metric, seed_,
      std::min(models_.after_share(0.5), model_gathering::clock::now() + most));
}

composition composer::composed(const ensemble& e) {
  composition out;
  out.linear = std::move(models_.linear);
  out.trees = std::move(models_.trees);
  out.convolutions = std::move(models_.convolutions);
  const auto total = sum_of(e.chosen);
  std::vector<weight_tensor> fitted;
  for (std::size_t i = 0; i < e.chosen.size(); ++i) {
    if (e.chosen[i] == 0)
      continue;
    const auto& bag = models_.bags[i];
    const double share = e.chosen[i] / total;
    if (bag.members.empty())
      out.model.members.push_back({.id = 0,
                                   .share = share,
                                   .trees = bag.trees,
                                   .convolutions = bag.convolutions});
    fitted.insert(fitted.end(), bag.weights.begin(), bag.weights.end());
    for (const auto* m : bag.members)
      out.model.members.push_back(
          {.id = m->id,
           .share = share / static_cast<double>(bag.members.size()),
           .temperature = bag.temperature,
           .mirrored = bag.mirrored ? std::optional(true) : std::nullopt});
  }
  if (!fitted.empty())
    out.fitted_weights = encode_weights(fitted);
  out.model.temperature = e.how.temperature;
  if (e.how.least > 0)
    out.model.least = e.how.least;
  out.model.left_out = std::move(models_.left_out);
  out.model.models = ranked(e);
  if (purpose_ == composition_purpose::interim) {
    out.model.metrics = of_validation(e.measured.metrics);
    return out;
  }
  out.tested = models_.examined(e.said, "final model", e.costs.parameters, e.how);
  out.model.metrics = of_validation(out.tested.metrics);
  if (auto columns = importances(e); columns && out.tested.details) {
    auto details = *out.tested.details;
    details.columns = std::move(columns);
    out.tested.details = std::make_shared<const test_details>(std::move(details));
  }
  return out;
}

// The test part is asked of those alone that are chosen. One that is not finite there is
// left out, and the rest chosen from again.
bool composer::tested(const ensemble& e) {
  for (std::size_t i = 0; i < e.chosen.size(); ++i)
    if (e.chosen[i] != 0 && !models_.test(models_.bags[i])) {
      models_.left_out.push_back(name_of(models_.bags[i])
                                 + ": it says what is no finite number");
      models_.bags.erase(models_.bags.begin() + static_cast<std::ptrdiff_t>(i));
      return false;
    }
  return true;
}

expected<composition> composer::compose() {
  const auto& bags = models_.bags;
  singles_.clear();
  for (const auto& bag : bags)
    singles_.push_back(models_.measured(bag.said, bag.costs, {.least = least_}));
  const auto chosen = of_lowest_loss();
  if (std::ranges::all_of(chosen, [](auto c) { return c == 0; }))
    return fail(error_kind::internal, "no model says anything of the validation part");
  goal_ = measurable_part(goal_, singles_.front());
  auto best = never_behind(calibrated(chosen));
  if (purpose_ == composition_purpose::interim)
    return composed(best);
  if (!tested(best))
    return compose();
  best.said = mean_of(best.chosen);
  return composed(best);
}

// Models with folds come first, which were trained for the longest and are judged by
// examples that they do not know, and then the others in the order in which they came.
std::vector<std::vector<const trained_member*>>
in_turn(std::span<const trained_member> members) {
  std::vector<std::vector<const trained_member*>> bags;
  for (const auto& m : members) {
    const auto same = std::ranges::find_if(
        bags, [&](const auto& bag) { return bag.front()->bag == m.bag; });
    if (same == bags.end())
      bags.push_back({&m});
    else
      same->push_back(&m);
  }
  std::ranges::stable_partition(bags,
                                [](const auto& bag) { return bag.front()->fold.of > 1; });
  return bags;
}

} // namespace

expected<composition> compose_final_model(training_context& context,
                                          std::span<const trained_member> members,
                                          std::uint64_t seed, const budget& b,
                                          composition_purpose purpose) {
  try {
    const auto deadline = deadline_of(b);
    context.prepare_thread(b.threads);
    if (auto loaded = context.load(); !loaded)
      return tl::unexpected(loaded.error());
    model_gathering models(context, seed, deadline, purpose);
    for (const auto& bag : in_turn(members))
      models.add(bag);
    models.add_linear_model();
    models.add_boosted_trees();
    models.add_random_convolutions();
    return composer(context, models, purpose).compose();
  } catch (...) {
    return fail(error_kind::io, "the final model: " + failure_of_exception().reason);
  }
}

} // namespace clade
