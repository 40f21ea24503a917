#include "engine/training/baselines/linear_model.hpp"

#include "engine/training/loop/assessment.hpp"
#include "engine/training/network/data_folds.hpp"
#include "engine/training/network/loss.hpp"
#include "engine/training/weights/tensor_copy.hpp"

#include <ATen/ATen.h>
#include <torch/optim/lbfgs.h>

#include <algorithm>
#include <array>
#include <cmath>

// The losses are convex, so that nothing is drawn at random. Penalties are tried from
// the strongest down, each fit starting where the last one ended, until validation.loss
// has risen twice in a row; for numbers still stronger ones, if the first was the best.
//
//   squared error   (X'X/n + penalty I) W = X'Y/n, in double precision, X with a column of
//                   ones whose weight, the intercept, is not penalised
//   other losses    mean loss + penalty/2 |W|^2, over all training examples at once

namespace clade {
namespace {

using steady_clock = std::chrono::steady_clock;

constexpr std::array penalties{1.0, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6};
// Tried where the first of those is best, since columns may tell next to nothing.
constexpr std::array stronger_penalties{10.0, 100.0, 1000.0};
// If they take more, the model is fitted to a part of them.
constexpr std::int64_t most_bytes = std::int64_t{256} << 20;
constexpr int rounds = 25;
constexpr int iterations_per_round = 20;
constexpr double converged = 1e-6; // Relative fall of the loss in a round.

struct linear_weights {
  at::Tensor weight; ///< [features, outputs]
  at::Tensor bias;   ///< [outputs]
};

at::Tensor predict(const linear_weights& w, const at::Tensor& examples) {
  return at::addmm(w.bias, examples.flatten(1), w.weight);
}

struct fitted_examples {
  const at::Tensor &x, &y;
  const at::Tensor& weights; ///< The same as in device_data.
};

// False: the deadline passed.
bool descend(const device_data& data, linear_weights& w, const fitted_examples& to,
             double penalty, steady_clock::time_point deadline) {
  torch::optim::LBFGS descent({w.weight, w.bias}, torch::optim::LBFGSOptions(1.0)
                                                      .max_iter(iterations_per_round)
                                                      .history_size(20)
                                                      .line_search_fn("strong_wolfe"));
  double last = std::numeric_limits<double>::infinity();
  for (int round = 0; round < rounds; ++round) {
    const auto loss = descent.step([&] {
      descent.zero_grad();
      auto l = loss_of(data.task.loss, predict(w, to.x), to.y,
                       {.class_weights = data.class_weights,
                        .weights = to.weights,
                        .quantiles = data.quantiles})
               + w.weight.square().sum() * (penalty / 2);
      l.backward();
      // Without a slope the descent ends at once.
      if (steady_clock::now() > deadline)
        descent.zero_grad();
      return l;
    });
    if (steady_clock::now() > deadline)
      return false;
    const double now = loss.item<double>(); // At the start of the round.
    if (!(last - now > converged * std::abs(now)) && round > 0)
      return true;
    last = now;
  }
  return true;
}

struct normal_equations {
  at::Tensor left;  ///< X'X/n
  at::Tensor right; ///< X'Y/n
};

normal_equations equations_for(const at::Tensor& x, const at::Tensor& y,
                               const at::Tensor& weights) {
  const auto examples = static_cast<double>(x.size(0));
  const auto with_ones =
      at::cat({x, at::ones({x.size(0), 1}, x.options())}, 1).to(at::kDouble);
  const auto transposed = weights.defined() ? with_ones.t() * weights : with_ones.t();
  return {transposed.mm(with_ones) / examples,
          transposed.mm(y.to(at::kDouble)) / examples};
}

// The pseudo-inverse, since columns may repeat each other and the penalty may be small.
void solve(linear_weights& w, const normal_equations& e, double penalty) {
  const auto features = e.left.size(0) - 1;
  auto held_down = at::full({features + 1}, penalty, e.left.options());
  held_down[features].zero_();
  const auto solution =
      at::linalg_pinv(e.left + held_down.diag(), 1e-12, /*hermitian=*/true)
          .mm(e.right)
          .to(at::kFloat);
  w.weight.copy_(solution.narrow(0, 0, features));
  w.bias.copy_(solution[features]);
}

// One call for each penalty, strongest first.
class linear_fit {
public:
  linear_fit(const device_data& data, std::int64_t outputs,
             std::span<const std::string> asked)
      : data_(data),
        asked_(asked) {
    const auto train = data_within(data, most_bytes).train;
    x_ = data.features.rows(train).flatten(1);
    y_ = data.targets.index_select(0, train);
    if (data.weights.defined())
      weights_ = data.weights.index_select(0, train);
    w_ = {at::zeros({x_.size(1), outputs}, x_.options()),
          at::zeros({outputs}, x_.options())};
    if (data.task.loss == loss_kind::squared_error)
      equations_ = equations_for(x_, y_, weights_);
  }

  bool fit(double penalty, steady_clock::time_point deadline) {
    if (data_.task.loss == loss_kind::squared_error) {
      solve(w_, equations_, penalty);
      return steady_clock::now() <= deadline;
    }
    w_.weight.requires_grad_(true);
    w_.bias.requires_grad_(true);
    const bool done = descend(data_, w_, {x_, y_, weights_}, penalty, deadline);
    w_.weight.requires_grad_(false);
    w_.bias.requires_grad_(false);
    return done;
  }

  /// Returns the sum of the losses of the examples of the validation part.
  [[nodiscard]] double validation_losses() const {
    const auto said = predict(w_, data_.features.rows(data_.validation));
    const auto targets = data_.targets.index_select(0, data_.validation);
    return loss_of(data_.task.loss, said, targets,
                   {.reduction = at::Reduction::Sum, .quantiles = data_.quantiles})
        .item<double>();
  }

  [[nodiscard]] std::vector<metric> assess_part(const at::Tensor& part,
                                                std::string_view prefix) const {
    return assess(as_model(), data_, part, prefix, asked_);
  }

  [[nodiscard]] test_details details() const { return details_of(as_model(), data_); }

  [[nodiscard]] const at::Tensor& weight() const { return w_.weight; }
  [[nodiscard]] const at::Tensor& bias() const { return w_.bias; }

  [[nodiscard]] std::uint64_t parameters() const {
    return static_cast<std::uint64_t>(w_.weight.numel() + w_.bias.numel());
  }

private:
  [[nodiscard]] model as_model() const {
    return [this](const at::Tensor& x) { return predict(w_, x); };
  }

  const device_data& data_;
  std::span<const std::string> asked_;
  at::Tensor x_, y_, weights_;
  linear_weights w_;
  normal_equations equations_;
};

} // namespace

at::Tensor linear_model::predict(const at::Tensor& examples) const {
  return at::addmm(bias, examples.flatten(1), weight);
}

std::vector<weight_tensor> linear_model::weights() const {
  return {to_host("output.weight", weight.t()), to_host("output.bias", bias)};
}

expected<linear_model> fit_linear_model(const device_data& data, std::int64_t outputs,
                                        steady_clock::time_point deadline,
                                        std::span<const std::string> asked) {
  linear_fit fit(data, outputs, asked);
  linear_model found;
  auto& best = found.tested;
  best.subject = "linear model";
  best.parameters = fit.parameters();
  double lowest = std::numeric_limits<double>::infinity(), lowest_at = 0;
  // Tries penalties in turn until the loss has risen so often, or there is no time left.
  const auto search = [&](std::span<const double> candidates, int often) {
    int risen = 0;
    for (const double penalty : candidates) {
      if (risen == often || !fit.fit(penalty, deadline))
        return;
      const auto validation = fit.assess_part(data.validation, "validation.");
      const double loss = *find(validation, "validation.loss");
      if (!(loss < lowest)) {
        ++risen;
        continue;
      }
      risen = 0;
      lowest = loss;
      lowest_at = penalty;
      best.metrics = fit.assess_part(data.test, "test.");
      best.metrics.insert(best.metrics.end(), validation.begin(), validation.end());
      best.details = std::make_shared<const test_details>(fit.details());
      found.weight = fit.weight().clone();
      found.bias = fit.bias().clone();
    }
  };
  search(penalties, 2);
  if (lowest_at == penalties.front() && data.task.loss == loss_kind::squared_error)
    search(stronger_penalties, 1);
  if (best.metrics.empty() && steady_clock::now() > deadline)
    return fail(error_kind::io, "the linear model was not fitted within its time");
  if (best.metrics.empty())
    return fail(error_kind::internal, "the linear model's loss is no finite number");
  return found;
}

namespace {

/// The fits to a fold, one for each penalty that there was time for.
struct fold_fits {
  std::vector<linear_model> models;
  std::vector<double> losses; ///< The sums over the examples that the fold leaves out.
};

fold_fits fit_penalties(const device_data& data, std::int64_t outputs,
                        steady_clock::time_point deadline) {
  linear_fit fit(data, outputs, {});
  fold_fits found;
  int risen = 0;
  for (const double penalty : penalties) {
    if (!fit.fit(penalty, deadline))
      break;
    const double loss = fit.validation_losses();
    risen = found.losses.empty() || loss < found.losses.back() ? 0 : risen + 1;
    found.losses.push_back(loss);
    found.models.push_back({.weight = fit.weight().clone(), .bias = fit.bias().clone()});
    if (risen == 2)
      break;
  }
  return found;
}

linear_model mean_of(const std::vector<linear_model>& models) {
  std::vector<at::Tensor> weights, biases;
  for (const auto& one : models) {
    weights.push_back(one.weight);
    biases.push_back(one.bias);
  }
  return {.weight = at::stack(weights).mean(0), .bias = at::stack(biases).mean(0)};
}

} // namespace

// Fold by fold, since the examples of one may fill the memory. A penalty at which one fold
// has ended is none that can be chosen.
expected<linear_folds> fit_linear_folds(const device_data& data, std::int64_t outputs,
                                        std::uint32_t folds, std::uint64_t seed,
                                        steady_clock::time_point deadline) {
  std::vector<fold_fits> fits;
  std::vector<double> losses;
  for (std::uint32_t i = 0; i < folds; ++i) {
    const auto now = steady_clock::now();
    const auto own = deadline == steady_clock::time_point::max()
                         ? deadline
                         : now + (deadline - now) / (folds - i);
    fits.push_back(fit_penalties(data_of_fold(data, {i, folds}, seed), outputs, own));
    losses.resize(i == 0 ? fits[i].losses.size()
                         : std::min(losses.size(), fits[i].losses.size()));
    for (std::size_t p = 0; p < losses.size(); ++p)
      losses[p] += fits[i].losses[p];
  }
  const auto lowest = std::ranges::min_element(losses);
  if (lowest == losses.end() || !std::isfinite(*lowest))
    return fail(error_kind::io,
                "the linear model of the folds was not fitted within its time");
  linear_folds found;
  for (const auto& fold : fits)
    found.folds.push_back(fold.models[static_cast<std::size_t>(lowest - losses.begin())]);
  found.whole = mean_of(found.folds);
  return found;
}

} // namespace clade
