// Models are gathered, an ensemble is chosen among them (ensemble_choice.hpp) and then
// asked of the test part.
#include "engine/training/final/composing.hpp"

#include "engine/run/records/cross_validation.hpp"
#include "engine/training/final/ensemble_choice.hpp"
#include "engine/training/final/failure.hpp"
#include "engine/training/final/model_bags.hpp"
#include "engine/training/loop/occlusion.hpp"

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace clade {
namespace {

void add_of_both(std::vector<metric>& to, const std::vector<metric>& metrics) {
  constexpr std::string_view prefix = "validation.";
  for (const auto& m : of_validation(metrics))
    to.push_back({std::string(cross_validation) + m.name.substr(prefix.size()), m.value});
}

class composer {
public:
  composer(training_context& context, model_gathering& models,
           composition_purpose purpose)
      : purpose_(purpose),
        data_(context.data()),
        seed_(context.setup().seed),
        models_(models),
        choice_(context, models) {}

  [[nodiscard]] expected<composition> compose();

private:
  [[nodiscard]] evaluation on_validation(const at::Tensor& said, const evaluation& costs,
                                         const score_calibration& how) const;
  [[nodiscard]] std::vector<ranked_model> ranked(const ensemble& e) const;
  [[nodiscard]] std::optional<column_importances> importances(const ensemble& e) const;
  void add_maps(test_evidence& to, const ensemble& e) const;
  [[nodiscard]] bool asks_of_nothing(const ensemble& e) const;
  [[nodiscard]] std::vector<metric> metrics_of(const ensemble& e) const;
  [[nodiscard]] bool tested(const ensemble& e);
  void add_members(composition& to, const ensemble& e) const;
  [[nodiscard]] composition composed(const ensemble& e);

  composition_purpose purpose_;
  const device_data& data_;
  std::uint64_t seed_;
  model_gathering& models_;
  ensemble_choice choice_;
};

evaluation composer::on_validation(const at::Tensor& said, const evaluation& costs,
                                   const score_calibration& how) const {
  return models_.measured(said, costs, how, data_.validation);
}

std::vector<metric> composer::metrics_of(const ensemble& e) const {
  auto metrics = of_validation(on_validation(e.said, e.costs, e.how).metrics);
  for (std::size_t i = 0; i < e.chosen.size(); ++i)
    if (e.chosen[i] != 0 && !choice_.judged_by_both(i))
      return metrics;
  add_of_both(metrics, e.measured.metrics);
  return metrics;
}

std::vector<ranked_model> composer::ranked(const ensemble& e) const {
  std::vector<ranked_model> out;
  for (const auto i : choice_.order()) {
    const auto& bag = models_.bags[i];
    ranked_model one{.subject = name_of(bag),
                     .id = bag.members.empty() ? 0 : bag.members.front()->id,
                     .parameters = bag.costs.parameters,
                     .share = e.share_of(i)};
    if (choice_.judged_by_both(i)) {
      const score_calibration how{.least = models_.least_probability()};
      one.metrics = of_validation(on_validation(bag.said, bag.costs, how).metrics);
      add_of_both(one.metrics, choice_.measured(i).metrics);
    } else {
      one.metrics = of_validation(choice_.measured(i).metrics);
    }
    std::erase_if(one.metrics, [](const metric& m) { return !std::isfinite(m.value); });
    out.push_back(std::move(one));
  }
  return out;
}

/// Whether no column matters: smoothing says the same of all examples.
bool composer::asks_of_nothing(const ensemble& e) const {
  for (std::size_t i = 0; i < e.chosen.size(); ++i)
    if (e.chosen[i] != 0 && !models_.bags[i].smoothing)
      return false;
  return true;
}

std::optional<column_importances> composer::importances(const ensemble& e) const {
  constexpr std::chrono::seconds most{10};
  const auto goal = of_epochs(choice_.goal());
  if (data_.features.dim() != 2 || !goal.metric.starts_with("validation.")
      || asks_of_nothing(e))
    return std::nullopt;
  const asked_model says = [&](const at::Tensor& x, const at::Tensor& which) {
    at::Tensor out;
    for (std::size_t i = 0; i < e.chosen.size(); ++i) {
      if (e.chosen[i] == 0)
        continue;
      const auto said = models_.ask(models_.bags[i], x, which) * e.share_of(i);
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

// All models of a bag are asked. The most wrong examples come first.
void composer::add_maps(test_evidence& to, const ensemble& e) const {
  if (data_.features.dim() != 4)
    return;
  const image_model says = [&](const at::Tensor& images) {
    at::Tensor out;
    for (std::size_t i = 0; i < e.chosen.size(); ++i) {
      const auto& models = models_.bags[i].models;
      for (std::size_t k = 0; e.chosen[i] != 0 && k < models.size(); ++k) {
        const auto share = e.share_of(i) / static_cast<double>(models.size());
        const auto said = at::softmax(models[k](images), 1) * share;
        out = out.defined() ? out + said : said;
      }
    }
    return out;
  };
  const c10::InferenceMode inference;
  constexpr std::chrono::seconds most{10};
  const auto until =
      std::min(models_.after_share(0.5), model_gathering::clock::now() + most);
  for (auto& wrong : to.classes) {
    const auto place = std::ranges::find(data_.test_places, wrong.place);
    const auto label = std::ranges::find(data_.classes, wrong.predicted);
    if (model_gathering::clock::now() > until)
      return;
    if (place == data_.test_places.end() || label == data_.classes.end())
      continue;
    const auto image =
        data_.features.rows(data_.test.narrow(0, place - data_.test_places.begin(), 1));
    wrong.occlusion =
        occlusion_map(says, image.squeeze(0), label - data_.classes.begin());
  }
}

void composer::add_members(composition& to, const ensemble& e) const {
  std::vector<weight_tensor> fitted;
  for (std::size_t i = 0; i < e.chosen.size(); ++i) {
    if (e.chosen[i] == 0)
      continue;
    const auto& bag = models_.bags[i];
    if (bag.members.empty())
      to.model.members.push_back(
          {.id = 0,
           .share = e.share_of(i),
           .trees = bag.trees,
           .convolutions = bag.convolutions,
           .smoothing = bag.smoothing ? std::optional(true) : std::nullopt});
    fitted.insert(fitted.end(), bag.weights.begin(), bag.weights.end());
    for (const auto* m : bag.members)
      to.model.members.push_back(
          {.id = m->id,
           .share = e.share_of(i) / static_cast<double>(bag.members.size()),
           .temperature = bag.temperature,
           .mirrored = bag.mirrored ? std::optional(true) : std::nullopt});
  }
  if (!fitted.empty())
    to.fitted_weights = encode_weights(fitted);
}

composition composer::composed(const ensemble& e) {
  composition out;
  out.compared = std::move(models_.compared);
  add_members(out, e);
  out.model.temperature = e.how.temperature;
  if (e.how.least > 0)
    out.model.least = e.how.least;
  out.model.left_out = std::move(models_.left_out);
  out.model.models = ranked(e);
  out.model.metrics = metrics_of(e);
  if (purpose_ == composition_purpose::interim)
    return out;
  out.tested = models_.examined(e.said, "final model", e.costs.parameters, e.how);
  auto details = *out.tested.details;
  details.columns = importances(e);
  if (details.evidence)
    add_maps(*details.evidence, e);
  out.tested.details = std::make_shared<const test_details>(std::move(details));
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
  auto best = choice_.choose();
  if (!best)
    return tl::unexpected(best.error());
  if (purpose_ == composition_purpose::interim)
    return composed(*best);
  if (!tested(*best))
    return compose();
  best->said = choice_.mean_of(*best);
  return composed(*best);
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
    models.add_forecasts();
    return composer(context, models, purpose).compose();
  } catch (...) {
    return fail(error_kind::io, "the final model: " + failure_of_exception().reason);
  }
}

} // namespace clade
