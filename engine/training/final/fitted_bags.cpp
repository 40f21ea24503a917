// The models of a gathering that are no genome's: they are fitted here, those of few examples
// to folds.
#include "engine/training/baselines/boosted_trees.hpp"
#include "engine/training/baselines/linear_model.hpp"
#include "engine/training/baselines/random_convolutions.hpp"
#include "engine/training/final/model_bags.hpp"
#include "engine/training/network/data_folds.hpp"
#include "engine/training/network/network_module.hpp"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>

namespace clade {
namespace {

/// Folds of few examples, and of boosted trees, if genomes have fewer.
constexpr std::uint32_t least_folds = 5;

} // namespace

std::uint32_t model_gathering::folds_of_fitted() const {
  return folds_are_of_both(data_) ? std::max(folds_, least_folds) : folds_;
}

void model_gathering::judge_folds(model_bag& bag) const {
  const auto folds = static_cast<std::uint32_t>(bag.models.size());
  for (std::uint32_t i = 0; i < folds; ++i) {
    const auto part = data_of_fold(data_, {i, folds}, seed_).validation;
    bag.said.index_copy_(0, part, answer(bag.models[i], part));
    bag.turns.index_fill_(0, part, static_cast<std::int64_t>(i));
  }
  bag.cross_judged = folds > 1 && folds_are_of_both(data_);
}

expected<model_bag> model_gathering::fitted_linear_folds() const {
  auto fitted = fit_linear_folds(data_, context_.problem().outputs, folds_of_fitted(),
                                 seed_, after_share(1.0 / 3));
  if (!fitted)
    return tl::unexpected(fitted.error());
  model_bag bag{
      .weights = fitted->whole.weights(), .turns = no_turns(), .said = empty_answers()};
  for (const auto& fold : fitted->folds)
    bag.models.push_back([fold](const at::Tensor& x) { return fold.predict(x); });
  judge_folds(bag);
  const model whole = [&](const at::Tensor& x) { return fitted->whole.predict(x); };
  bag.said.index_copy_(0, data_.test, answer(whole, data_.test));
  bag.costs = costs_of(linear_network(context_.problem()), whole);
  return bag;
}

expected<model_bag> model_gathering::fitted_linear_model() const {
  if (out_of_time())
    return fail(error_kind::io, "the linear model was not fitted within its time");
  auto fitted = fit_linear_model(data_, context_.problem().outputs, after_share(1.0 / 3),
                                 context_.asked().validation);
  if (!fitted)
    return tl::unexpected(fitted.error());
  const model says = [own = *fitted](const at::Tensor& x) { return own.predict(x); };
  model_bag bag{.weights = fitted->weights(),
                .models = {says},
                .turns = no_turns(),
                .said = empty_answers(),
                .costs = costs_of(linear_network(context_.problem()), says)};
  for (const auto& part : {data_.validation, data_.test})
    bag.said.index_copy_(0, part, answer(says, part));
  return bag;
}

// One fit to the train part comes first: it is what there is if there is no time for folds,
// which take about as long each.
void model_gathering::add_linear_model() {
  const auto start = clock::now();
  auto bag = fitted_linear_model();
  if (!bag)
    return left_out.push_back(bag.error().message);
  const auto took = clock::now() - start;
  if (folds_are_of_both(data_)
      && clock::now() + folds_of_fitted() * took <= after_share(1.0 / 3))
    if (auto of_folds = fitted_linear_folds())
      bag = std::move(of_folds);
  bag->tested = true;
  compare(bag->said, std::string(to_text(bag->fitted())), bag->costs.parameters);
  bags.push_back(std::move(*bag));
}

std::shared_ptr<network_module>
model_gathering::network_of(const network& n,
                            const std::vector<weight_tensor>& weights) const {
  auto net = std::make_shared<network_module>(n, training_key{}, data_.features.device());
  const auto loaded = net->load(weights);
  TORCH_CHECK(loaded.has_value(), loaded.error().message);
  return net;
}

void model_gathering::add_boosted_trees() {
  if (!has_trees())
    return;
  auto fitted = fit_boosted_trees(
      data_, {.folds = std::max(folds_, data_.parts_by_chance ? least_folds : 1),
              .seed = seed_,
              .threads = static_cast<std::size_t>(std::max(1, at::get_num_threads())),
              .quick = purpose_ == composition_purpose::interim,
              .deadline = after_share(0.7)});
  if (!fitted)
    return left_out.push_back(fitted.error().message);
  const auto says = [this](const fitted_trees& f) -> model {
    return [net = network_of(tree_network(context_.problem(), f.sizes), f.weights)](
               const at::Tensor& x) { return net->forward(x); };
  };
  model_bag bag{.trees = fitted->whole.sizes,
                .turns = no_turns(),
                .said = empty_answers(),
                .tested = true};
  for (const auto& fold : fitted->folds)
    bag.models.push_back(says(fold));
  judge_folds(bag);
  const auto whole = says(fitted->whole);
  bag.said.index_copy_(0, data_.test, answer(whole, data_.test));
  bag.costs = costs_of(tree_network(context_.problem(), *bag.trees), whole);
  bag.weights = std::move(fitted->whole.weights);
  compare(bag.said, name_of(bag), bag.costs.parameters);
  bags.push_back(std::move(bag));
}

void model_gathering::add_random_convolutions() {
  if (!has_convolutions(context_.problem().input))
    return;
  auto fitted =
      fit_random_convolutions(data_, {.seed = seed_, .deadline = after_share(0.5)});
  if (!fitted)
    return left_out.push_back(fitted.error().message);
  const auto n = convolution_network(context_.problem(), fitted->sizes);
  const model says = [net = network_of(n, fitted->weights)](const at::Tensor& x) {
    return net->forward(x);
  };
  model_bag bag{.convolutions = fitted->sizes,
                .weights = std::move(fitted->weights),
                .models = {says},
                .turns = no_turns(),
                .said = empty_answers(),
                .costs = costs_of(n, says)};
  bag.said.index_copy_(0, fitted->judged_by,
                       data_.task.has_classes() ? at::softmax(fitted->judged, 1)
                                                : fitted->judged);
  bag.cross_judged = fitted->judged_by.size(0) > data_.validation.size(0);
  const bool is_final = purpose_ == composition_purpose::final_model;
  if (!at::isfinite(bag.said).all().item<bool>() || (is_final && !test(bag)))
    return left_out.push_back(name_of(bag) + ": it says what is no finite number");
  compare(bag.said, name_of(bag), bag.costs.parameters);
  bags.push_back(std::move(bag));
}

// Targets count from exponential smoothing: it says 0 of all.
void model_gathering::add_forecasts() {
  if (!data_.steps)
    return;
  const auto n = smoothing_network(context_.problem());
  const auto& scale = data_.target_scales.front();
  const auto zero = static_cast<float>(-scale.mean / scale.deviation);
  std::vector<weight_tensor> weights = network_module(n, {}, at::kCPU).weights();
  for (auto& w : weights)
    std::ranges::fill(w.values, w.name.ends_with(".bias") ? zero : 0.0F);
  const model says = [net = network_of(n, weights)](const at::Tensor& x) {
    return net->forward(x);
  };
  model_bag bag{.smoothing = true,
                .weights = std::move(weights),
                .models = {says},
                .turns = no_turns(),
                .said = at::full_like(empty_answers(), zero),
                .tested = true,
                .cross_judged = folds_are_of_both(data_),
                .costs = costs_of(n, says)};
  compare(bag.said, name_of(bag), bag.costs.parameters);
  bags.push_back(std::move(bag));
  auto naive = at::tensor(data_.steps->naive, at::kDouble).unsqueeze(1);
  naive = (naive - scale.mean) / scale.deviation;
  compare(naive.to(data_.features.options()), "seasonal naive", 0);
}

void model_gathering::compare(const at::Tensor& said, std::string subject,
                              std::uint64_t parameters) {
  if (purpose_ == composition_purpose::final_model)
    compared.push_back(
        examined(said, std::move(subject), parameters, {.least = least_probability()}));
}

} // namespace clade
