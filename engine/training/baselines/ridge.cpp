// With features X [examples, features], standardised and divided by the root of their
// number, and targets Y, both centred and multiplied by the roots of the weights:
//
//   few examples     X X' = U diag(l) U'; what is said is U diag(l / (l + penalty)) U' Y,
//                    and from the diagonal of that matrix follows what would be said of
//                    each example without it (leave one out; Rifkin and Lippert, "Notes on
//                    Regularized Least Squares", 2007)
//   many examples    (X'X + penalty I) weight = X'Y
//
// The penalty counts for each example, so that the same ones fit both.
#include "engine/training/baselines/ridge.hpp"

#include <ATen/ATen.h>

#include <array>
#include <limits>

namespace clade {
namespace {

constexpr std::array few_penalties{1e-3, 3e-3, 1e-2, 3e-2, 0.1, 0.3, 1.0,
                                   3.0,  10.0, 30.0, 1e2,  3e2, 1e3};
constexpr std::array many_penalties{1e-2, 0.1, 1.0, 10.0, 1e2, 1e3};
/// A feature of a lower deviation is a constant.
constexpr double least_deviation = 1e-6;

at::Tensor scales_for(const at::Tensor& variances) {
  const auto deviations = variances.clamp_min(0).sqrt();
  return at::where(deviations.gt(least_deviation), deviations.reciprocal(), 0)
         / std::sqrt(static_cast<double>(variances.size(0)));
}

linear_map unscaled(const at::Tensor& weight, const at::Tensor& scales,
                    const at::Tensor& means, const at::Tensor& target_means) {
  const auto of_features = weight * scales.unsqueeze(1);
  return {of_features, target_means - means.matmul(of_features)};
}

} // namespace

ridge_fit fit_ridge(const ridge_examples& examples) {
  const auto total = examples.weights.sum();
  const auto share = (examples.weights / total).unsqueeze(1);
  const auto roots = examples.weights.sqrt().unsqueeze(1);
  auto x = examples.features.to(at::kDouble);
  const auto means = (x * share).sum(0), target_means = (examples.targets * share).sum(0);
  x -= means;
  const auto scales = scales_for((x.square() * share).sum(0));
  x *= scales;
  x *= roots;
  const auto y = (examples.targets - target_means) * roots;
  const auto [eigenvalues, vectors] = at::linalg_eigh(x.mm(x.t()));
  const auto l = eigenvalues.clamp_min(0).unsqueeze(1);
  const auto rotated = vectors.t().mm(y), squares = vectors.square();
  double lowest = std::numeric_limits<double>::infinity();
  ridge_fit best;
  for (const double penalty : few_penalties) {
    const auto kept = l / (l + penalty);
    const auto errors =
        (y - vectors.mm(kept * rotated)) / (1 - squares.mm(kept) - share).clamp_min(1e-9);
    const double loss = errors.square().sum().item<double>();
    if (!(loss < lowest))
      continue;
    lowest = loss;
    best.left_out = examples.targets - errors / roots;
    best.map = {rotated / (l + penalty), {}};
  }
  TORCH_CHECK(best.left_out.defined(), "the errors of a ridge regression are not finite");
  best.map = unscaled(x.t().mm(vectors.mm(best.map.weight)), scales, means, target_means);
  return best;
}

void ridge_sums::add(const ridge_examples& some) {
  const auto w = some.weights.unsqueeze(1);
  const auto weighted = some.features * w.to(at::kFloat);
  const auto squares = weighted.t().mm(some.features).to(at::kDouble);
  const auto products = weighted.t().to(at::kDouble).mm(some.targets);
  const auto sum = [](at::Tensor& all, const at::Tensor& more) {
    all = all.defined() ? all.add_(more) : more;
  };
  sum(squares_, squares);
  sum(products_, products);
  sum(weights_, some.weights.sum());
  sum(features_, weighted.to(at::kDouble).sum(0));
  sum(targets_, (some.targets * w).sum(0));
}

std::vector<linear_map> ridge_sums::solve() const {
  const auto means = features_ / weights_, target_means = targets_ / weights_;
  auto covariance = squares_ / weights_ - means.outer(means);
  const auto scales = scales_for(covariance.diagonal());
  covariance *= scales.unsqueeze(1);
  covariance *= scales;
  const auto products =
      (products_ / weights_ - means.outer(target_means)) * scales.unsqueeze(1);
  std::vector<linear_map> out;
  double before = 0;
  for (const double penalty : many_penalties) {
    const double each = penalty / weights_.item<double>();
    covariance.diagonal().add_(each - before);
    before = each;
    // Sums in 32 bits may be too coarse for the weakest penalties where features repeat each
    // other.
    const auto [factor, failed] = at::linalg_cholesky_ex(covariance);
    if (failed.item<std::int64_t>() == 0)
      out.push_back(
          unscaled(at::cholesky_solve(products, factor), scales, means, target_means));
  }
  TORCH_CHECK(!out.empty(), "the sums of a ridge regression cannot be solved");
  return out;
}

} // namespace clade
