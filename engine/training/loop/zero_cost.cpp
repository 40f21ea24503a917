#include "engine/training/loop/zero_cost.hpp"

#include "engine/data/source/open_source.hpp"
#include "engine/training/network/loss.hpp"
#include "engine/training/network/network_module.hpp"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <cmath>
#include <numeric>

// Two networks are made with the same initial weights: synflow changes those of the first
// and takes one pass forward and back; the second takes one forward and two back, of the
// sum of outputs to its inputs and of the loss to its parameters.

namespace clade {
namespace {

constexpr double smallest_eigenvalue = 1e-5;

std::optional<double> if_finite(double score) {
  return std::isfinite(score) ? std::optional(score) : std::nullopt;
}

double squares(const std::vector<at::Tensor>& gradients) {
  double sum = 0;
  for (const auto& g : gradients)
    if (g.defined()) // A tensor that does not reach the output has no gradient.
      sum += g.to(at::kDouble).square().sum().item<double>();
  return sum;
}

double synaptic_flow(network_module& net, const at::Tensor& example) {
  net.to(at::kDouble);
  net.leave_out_norms();
  net.eval();
  std::vector<at::Tensor> weights;
  {
    const at::NoGradGuard no_grad;
    for (auto& p : net.parameters()) {
      if (p.dim() < 2) {
        p.zero_();
        continue;
      }
      p.abs_();
      weights.push_back(p);
    }
  }
  const auto flow = net.forward(at::ones_like(example, at::kDouble)).sum();
  const auto gradients = torch::autograd::grad({flow}, weights, {}, std::nullopt, false,
                                               /*allow_unused=*/true);
  double sum = 0;
  for (std::size_t i = 0; i < weights.size(); ++i)
    if (gradients[i].defined())
      sum += (weights[i].detach() * gradients[i]).sum().item<double>();
  return std::log(sum);
}

double jacobian_covariance(const at::Tensor& jacobian) {
  const auto rows = jacobian.to(at::kDouble).flatten(1);
  const auto centred = rows - rows.mean(1, /*keepdim=*/true);
  const auto directions = centred / centred.norm(2, 1, /*keepdim=*/true);
  const auto correlations = directions.mm(directions.t());
  if (!at::isfinite(correlations).all().item<bool>())
    return std::numeric_limits<double>::quiet_NaN();
  const auto e = at::linalg_eigvalsh(correlations).clamp_min(0) + smallest_eigenvalue;
  return -(e.log() + e.reciprocal()).sum().item<double>();
}

at::Tensor drawn_from(const at::Tensor& part, std::uint64_t seed) {
  auto random = training_key{.seed = seed}.stream("zero-cost examples");
  std::vector<std::int64_t> order(static_cast<std::size_t>(part.size(0)));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  const auto count = std::min(order.size(), static_cast<std::size_t>(zero_cost_examples));
  for (std::size_t i = 0; i < count; ++i)
    std::swap(order[i], order[i + random.below(order.size() - i)]);
  return part.index_select(
      0, at::from_blob(order.data(), {static_cast<std::int64_t>(count)}, at::kLong));
}

class untrained_scorer final : public zero_cost_scorer {
public:
  untrained_scorer(const training_setup& setup, problem of, const device_data& all)
      : space_(setup.space),
        seed_(setup.seed),
        problem_(std::move(of)),
        loss_(all.task.loss),
        quantiles_(all.quantiles) {
    const auto some = drawn_from(all.train, setup.seed);
    examples_ = {.features = all.features.rows(some),
                 .targets = all.targets.index_select(0, some)};
  }

  // Flags that LibTorch keeps for the process are set as a trainer sets them, but for
  // what changes how this thread rounds: it goes on to do other arithmetic.
  zero_cost_scores score(const genome& g, candidate_id id) override {
    const auto decoded = decode(space_, g, problem_);
    if (!decoded || !affordable(*decoded))
      return {};
    try {
      if (at::get_num_threads() != 1)
        at::set_num_threads(1);
      at::globalContext().setDeterministicAlgorithms(true, /*warn_only=*/false);
      return score_untrained(*decoded, {.seed = seed_, .id = id}, examples_, loss_,
                             quantiles_);
    } catch (const std::exception&) {
      return {}; // Training will say what is wrong with it.
    }
  }

private:
  [[nodiscard]] bool affordable(const network& n) const {
    constexpr double passes = 5;
    const auto count = examples_.features.size(0);
    return passes * static_cast<double>(count)
                   * static_cast<double>(n.cost().multiply_adds)
               <= most_zero_cost_work
           && training_bytes(n, static_cast<std::uint64_t>(count), 0)
                  <= most_zero_cost_bytes;
  }

  search_space space_;
  std::uint64_t seed_;
  problem problem_;
  loss_kind loss_;
  at::Tensor quantiles_;
  batch examples_;
};

} // namespace

zero_cost_scores score_untrained(const network& n, const training_key& key,
                                 const batch& examples, loss_kind kind,
                                 const at::Tensor& quantiles) {
  const at::AutoGradMode with_gradients(true);
  const auto device = examples.features.device();
  zero_cost_scores scores;
  {
    network_module net(n, key, device);
    net.observe(examples.features);
    scores.synflow = if_finite(synaptic_flow(net, examples.features.narrow(0, 0, 1)));
  }
  network_module net(n, key, device);
  net.observe(examples.features);
  net.train();
  net.stop_dropping();
  const auto features = examples.features.detach().clone().requires_grad_(true);
  const auto outputs = net.forward(features);
  const auto jacobian =
      torch::autograd::grad({outputs.sum()}, {features}, {}, /*retain_graph=*/true);
  scores.jacob_cov = if_finite(jacobian_covariance(jacobian[0]));
  const auto loss = loss_of(kind, outputs, examples.targets, {.quantiles = quantiles});
  const auto parameters = net.parameters();
  scores.grad_norm = if_finite(std::sqrt(squares(torch::autograd::grad(
      {loss}, parameters, {}, std::nullopt, false, /*allow_unused=*/true))));
  return scores;
}

expected<std::unique_ptr<zero_cost_scorer>>
make_zero_cost_scorer(const training_setup& setup) {
  const auto source = open_source(setup.data, setup.seed);
  if (!source)
    return tl::unexpected(source.error());
  try {
    const auto data = to_device(*source, "cpu");
    if (!data)
      return tl::unexpected(data.error());
    return std::make_unique<untrained_scorer>(
        setup, (*source)->description().as_problem(), *data);
  } catch (const std::exception& e) {
    const std::string what = e.what();
    return fail(error_kind::io,
                "zero-cost scores: LibTorch says " + what.substr(0, what.find('\n')));
  }
}

} // namespace clade
