// The answers of a model are gathered in one tensor for all examples, [examples, outputs],
// of which the rows of the validation and the test part are filled, and of few examples
// those of the train part, if each was left out by a fold. The model that is to be measured
// is then one whose features are its answers.
#include "engine/training/final/model_bags.hpp"

#include "engine/evaluation/costs.hpp"
#include "engine/program/kernels/kernel.hpp"
#include "engine/run/steps/final_choice.hpp"
#include "engine/training/final/examining.hpp"
#include "engine/training/metrics/ensemble_selection.hpp"
#include "engine/training/network/data_folds.hpp"
#include "engine/training/network/network_module.hpp"
#include "genome/base/text.hpp"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>

namespace clade {
namespace {

/// Thrown where a model is asked when its time is used.
struct too_late {};

} // namespace

std::string name_of(const model_bag& bag) {
  if (bag.members.empty())
    return in_sentence(bag.fitted());
  const auto id = numbered(bag.members.front()->id);
  return bag.has_folds() ? "the folds of " + id : id;
}

void add_costs(evaluation& sum, const model_bag& bag) {
  sum.parameters += bag.costs.parameters;
  for (const auto& cost : bag.costs.metrics) {
    const auto known = std::ranges::find(sum.metrics, cost.name, &metric::name);
    if (known == sum.metrics.end())
      sum.metrics.push_back(cost);
    else
      known->value += cost.value;
  }
}

model_gathering::model_gathering(training_context& context, std::uint64_t seed,
                                 clock::time_point deadline, composition_purpose purpose)
    : context_(context),
      data_(context.data()),
      seed_(seed),
      purpose_(purpose),
      deadline_(deadline),
      networks_until_(after_share(0.5)) {}

bool model_gathering::has_trees() const {
  return data_.features.dim() == 2;
}

model_gathering::clock::time_point model_gathering::after_share(double share) const {
  const auto now = clock::now();
  return deadline_ == clock::time_point::max()
             ? deadline_
             : now
                   + std::chrono::duration_cast<clock::duration>((deadline_ - now)
                                                                 * share);
}

at::Tensor model_gathering::empty_answers() const {
  return at::zeros({data_.features.size(0), context_.problem().outputs},
                   data_.features.options());
}

at::Tensor model_gathering::no_turns() const {
  return at::zeros({data_.features.size(0)}, data_.train.options());
}

at::Tensor model_gathering::at_temperature(const at::Tensor& said, double t) const {
  return data_.task.has_classes() ? at::softmax(at::clamp_min(said, 1e-12).log() / t, 1)
                                  : said;
}

at::Tensor model_gathering::answer(const model& says, const at::Tensor& part) const {
  const auto out = outputs_of(says, data_, part);
  return data_.task.has_classes() ? at::softmax(out, 1) : out;
}

at::Tensor model_gathering::ask(const model_bag& bag, const at::Tensor& features,
                                const at::Tensor& which) const {
  auto out =
      at::empty({features.size(0), context_.problem().outputs}, features.options());
  const auto turn = bag.turns.index_select(0, which);
  for (std::size_t k = 0; k < bag.models.size(); ++k)
    if (const auto its = turn.eq(static_cast<std::int64_t>(k)).nonzero().squeeze(1);
        its.size(0) > 0)
      out.index_copy_(0, its, bag.models[k](features.index_select(0, its)));
  return data_.task.has_classes() ? at_temperature(at::softmax(out, 1), bag.temperature)
                                  : out;
}

bool model_gathering::test(model_bag& bag) const {
  if (bag.tested)
    return true;
  std::vector<at::Tensor> answers;
  for (const auto& one : bag.models)
    answers.push_back(answer(one, data_.test));
  const auto said = at_temperature(at::stack(answers).mean(0), bag.temperature);
  bag.said.index_copy_(0, data_.test, said);
  bag.tested = true;
  return at::isfinite(said).all().item<bool>();
}

evaluation model_gathering::costs_of(const network& n, const model& says) const {
  const auto& goal = context_.setup().goal;
  evaluation costs;
  costs.parameters = n.cost().parameters;
  add_cost(costs, goal, multiply_adds_metric,
           static_cast<double>(n.cost().multiply_adds));
  if (asks_for(goal, latency_metric))
    add_cost(costs, goal, latency_metric, latency_milliseconds(says, data_));
  return costs;
}

expected<model_bag>
model_gathering::answered(const std::vector<const trained_member*>& members,
                          clock::time_point latest) const {
  model_bag bag{.members = members, .turns = no_turns(), .said = empty_answers()};
  bool mirrors = data_.features.dim() == 4;
  const auto folds = members.front()->fold.of;
  bag.cross_judged = folds > 1 && folds_are_of_both(data_);
  if (folds > 1 && members.size() != folds)
    return fail(error_kind::not_found,
                numbered(members.front()->id)
                    + ": not all folds of its genome were trained");
  for (const auto* m : members) {
    const auto planned = context_.plan_for(m->genome);
    auto net = planned.and_then([&](const training_plan&) {
      return load_candidate(context_, m->genome, m->weights);
    });
    if (!net)
      return fail(net.error().kind,
                  fmt::format("{}: {}", numbered(m->id), net.error().message));
    const std::shared_ptr<network_module> one = std::move(*net);
    one->eval();
    const model says = [one](const at::Tensor& x) { return one->forward(x); };
    const model predict = [&](const at::Tensor& x) {
      if (clock::now() > latest)
        throw too_late();
      return says(x);
    };
    const auto judged = data_of_fold(data_, m->fold, seed_).validation;
    bag.said.index_copy_(0, judged, answer(predict, judged));
    bag.turns.index_fill_(0, judged, static_cast<std::int64_t>(bag.models.size()));
    bag.models.push_back(says);
    add_costs(bag.costs, {.costs = costs_of(planned->network, predict)});
    mirrors = mirrors && planned->recipe.flip;
  }
  return mirrors ? mirrored_unless_behind(std::move(bag)) : bag;
}

model_bag model_gathering::mirrored_unless_behind(model_bag plain) const {
  auto bag = plain;
  bag.mirrored = true;
  bag.said = empty_answers();
  for (auto& cost : bag.costs.metrics)
    cost.value *= 2; // The operations, and the time that they take.
  for (std::size_t k = 0; k < bag.models.size(); ++k) {
    bag.models[k] = [one = plain.models[k]](const at::Tensor& x) {
      return (one(x) + one(x.flip(3))) * 0.5;
    };
    const model predict = [&](const at::Tensor& x) {
      return clock::now() > networks_until_ ? throw too_late() : bag.models[k](x);
    };
    try {
      const auto judged = data_of_fold(data_, bag.members[k]->fold, seed_).validation;
      bag.said.index_copy_(0, judged, answer(predict, judged));
    } catch (const too_late&) {
      return plain;
    }
  }
  const auto how = score_calibration{.least = least_probability()};
  const auto part = judges_of(bag);
  const auto before = measured(plain.said, plain.costs, how, part);
  const bool behind = is_behind(measured(bag.said, bag.costs, how, part), before,
                                measurable_part(context_.setup().goal, before));
  return behind ? plain : bag;
}

at::Tensor model_gathering::judges_of(const model_bag& bag) const {
  return bag.cross_judged ? both_parts(data_) : data_.validation;
}

// A network that was trained for long is too sure, and would be left out for that alone.
void model_gathering::calibrate(model_bag& bag) const {
  bag.temperature = temperature_of(bag.said, bag.costs, judges_of(bag));
  if (bag.temperature != 1)
    bag.said = at_temperature(bag.said, bag.temperature);
}

void model_gathering::add(const std::vector<const trained_member*>& members) {
  const auto name = numbered(members.front()->id);
  try {
    const bool takes_its_time =
        bags.empty() && purpose_ == composition_purpose::final_model;
    auto bag =
        answered(members, takes_its_time ? clock::time_point::max() : networks_until_);
    if (!bag)
      return left_out.push_back(bag.error().message);
    if (!at::isfinite(bag->said).all().item<bool>())
      return left_out.push_back(name + ": it says what is no finite number");
    calibrate(*bag);
    folds_ = std::max(folds_, members.front()->fold.of);
    bags.push_back(std::move(*bag));
  } catch (const too_late&) {
    left_out.push_back(name + ": there was no time left to ask it");
  }
}

namespace {

/// The data as those of a model that says its features.
device_data as_features(const device_data& data, const at::Tensor& said,
                        const score_calibration& how) {
  auto measured = data;
  measured.features = said;
  if (data.task.has_labels() && how.least > 0)
    measured.features = bounded_odds(said, at::full({1}, how.least, said.options()));
  if (!data.task.has_classes())
    return measured;
  auto scores = at::clamp_min(said, 1e-12).log() / how.temperature;
  if (how.least > 0)
    scores = bounded_scores(scores, at::full({1}, how.least, said.options()));
  measured.features = scores;
  return measured;
}

/// Returns what is known of these examples of a forecast; none of what is none.
std::shared_ptr<const forecast_steps> steps_of(const device_data& data,
                                               const at::Tensor& which) {
  if (!data.steps)
    return nullptr;
  const auto& all = *data.steps;
  auto out = std::make_shared<forecast_steps>();
  const auto host = which.cpu().contiguous();
  for (std::int64_t k = 0; k < host.numel(); ++k) {
    const auto i = static_cast<std::size_t>(host.const_data_ptr<std::int64_t>()[k]);
    out->ahead.push_back(all.ahead[i]);
    out->offset.push_back(all.offset[i]);
    out->scale.push_back(all.scale[i]);
    out->naive.push_back(all.naive[i]);
  }
  return out;
}

at::Tensor as_it_says(const at::Tensor& x) {
  return x;
}

} // namespace

double model_gathering::least_probability() const {
  const auto examples =
      static_cast<std::size_t>(data_.train.size(0) + data_.validation.size(0));
  if (data_.task.has_numbers())
    return 0;
  const std::uint64_t outcomes = // A label is there or not.
      data_.task.has_labels() ? 2 : context_.problem().outputs;
  return least_probability_of(examples, static_cast<std::size_t>(outcomes));
}

evaluation model_gathering::measured(const at::Tensor& said, const evaluation& costs,
                                     const score_calibration& how,
                                     const at::Tensor& part) const {
  auto e = costs;
  const auto metrics = assess(as_it_says, as_features(data_, said, how), part,
                              "validation.", context_.asked().validation);
  e.metrics.insert(e.metrics.end(), metrics.begin(), metrics.end());
  return e;
}

double model_gathering::difference_error(const at::Tensor& said,
                                         const score_calibration& how,
                                         const at::Tensor& other, const at::Tensor& part,
                                         const std::string& metric) const {
  constexpr std::string_view prefix = "validation.";
  if (!metric.starts_with(prefix))
    return 0;
  const auto scores = [&](const at::Tensor& of, const score_calibration& calibration) {
    return as_features(data_, of, calibration).features.rows(part);
  };
  return clade::difference_error(data_, part, scores(said, how),
                                 scores(other, {.least = how.least}),
                                 metric.substr(prefix.size()));
}

evaluation model_gathering::measured(const at::Tensor& answers, const at::Tensor& which,
                                     const score_calibration& how) const {
  auto part = data_;
  part.targets = data_.targets.index_select(0, which);
  part.steps = steps_of(data_, which);
  part.validation = at::arange(which.size(0), which.options());
  return {.metrics = assess(as_it_says, as_features(part, answers, how), part.validation,
                            "validation.", context_.asked().validation)};
}

examination model_gathering::examined(const at::Tensor& said, std::string subject,
                                      std::uint64_t parameters,
                                      const score_calibration& how) const {
  const auto measured = as_features(data_, said, how);
  const auto& asked = context_.asked().validation;
  examination out{.subject = std::move(subject), .parameters = parameters};
  out.metrics = assess(as_it_says, measured, data_.test, "test.", asked);
  const auto validation =
      assess(as_it_says, measured, data_.validation, "validation.", asked);
  out.metrics.insert(out.metrics.end(), validation.begin(), validation.end());
  const auto& setup = context_.setup();
  out.details = std::make_shared<const test_details>(
      details_of(as_it_says, measured, of_epochs(setup.goal).metric, setup.seed));
  return out;
}

double model_gathering::temperature_of(const at::Tensor& said, const evaluation& costs,
                                       const at::Tensor& part) const {
  if (!data_.task.has_classes())
    return 1;
  const auto rows = said.index_select(0, part).cpu().contiguous();
  const auto labels = data_.targets.index_select(0, part).cpu().contiguous();
  const double t = fit_temperature(
      {rows.const_data_ptr<float>(), static_cast<std::size_t>(rows.numel())},
      {labels.const_data_ptr<std::int64_t>(), static_cast<std::size_t>(labels.numel())});
  if (t == 1)
    return t;
  // Both as the final model would say it: what helps without the bound may harm with it.
  const auto least = least_probability();
  const auto before = measured(said, costs, {.least = least}, part);
  const auto after = measured(said, costs, {.temperature = t, .least = least}, part);
  return is_behind(after, before, measurable_part(context_.setup().goal, before)) ? 1 : t;
}

} // namespace clade
