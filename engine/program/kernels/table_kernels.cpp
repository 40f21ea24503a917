// Layers that see the columns of a table, and what puts ensembles together. The embeddings
// of numbers are those of Gorishniy et al., "On Embeddings for Numerical Features in
// Tabular Deep Learning" (NeurIPS 2022).
#include "engine/program/kernels/kernel.hpp"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <array>
#include <numbers>

namespace clade {
namespace {

using inputs = kernel::inputs;

kernel make_select(const kernel_context& c) {
  auto chosen = c.step.selected;
  for (auto i = std::ssize(chosen); i < c.step.out.sizes[0]; ++i)
    chosen.push_back(i);
  // A constant, which is no part of the weights.
  return {[columns = at::tensor(chosen, at::kLong).to(c.device)](inputs in, bool) {
    return in[0].index_select(1, columns);
  }};
}

// The edges become quantiles: values that examples have, so that no rounding decides on
// which side of an edge they lie.
void set_quantiles(at::Tensor edges, const at::Tensor& x) {
  const auto sorted = std::get<0>(x.detach().cpu().sort(0)).t().contiguous();
  const auto bins = edges.size(1) - 1;
  std::vector<std::int64_t> ranks;
  for (std::int64_t i = 0; i <= bins; ++i)
    ranks.push_back(i * (sorted.size(1) - 1) / bins);
  const at::NoGradGuard no_grad;
  edges.copy_(sorted.index_select(1, at::tensor(ranks, at::kLong)));
}

kernel make_piecewise(const kernel_context& c) {
  const auto edges = c.tensor("edges"); // [features, bins + 1]
  const auto forward = [edges](inputs in, bool) {
    const auto bins = edges.size(1) - 1;
    const auto low = edges.narrow(1, 0, bins);
    const auto width = (edges.narrow(1, 1, bins) - low).clamp_min(narrowest_bin);
    return ((in[0].unsqueeze(2) - low) / width).clamp(0, 1).flatten(1);
  };
  return {.forward = forward,
          .observe = [edges](const at::Tensor& x) { set_quantiles(edges, x); }};
}

kernel make_periodic(const kernel_context& c) {
  return {[frequencies = c.tensor("frequencies")](inputs in, bool) {
    const auto turns = in[0].unsqueeze(2) * frequencies * (2 * std::numbers::pi);
    return at::cat({turns.cos(), turns.sin()}, 2).flatten(1);
  }};
}

kernel make_map_each(const kernel_context& c) {
  return {[weight = c.tensor("weight"), bias = c.tensor("bias")](inputs in, bool) {
    const auto each = in[0].reshape({in[0].size(0), weight.size(0), -1}).transpose(0, 1);
    return (at::bmm(each, weight).transpose(0, 1) + bias).flatten(1);
  }};
}

struct tree_tensors {
  at::Tensor features;   ///< [trees, 2^depth - 1]: whole numbers.
  at::Tensor thresholds; ///< [trees, 2^depth - 1]
  at::Tensor leaves;     ///< [trees, 2^depth]
  std::int64_t depth = 1, width = 1;
};

// All trees go down together, a level at a time: a gather finds the feature of each tree's
// node, a comparison the next node.
at::Tensor sum_of_leaves(const tree_tensors& t, const at::Tensor& x) {
  const auto inner = t.features.size(1);
  const auto tree = at::arange(t.leaves.size(0), x.options().dtype(at::kLong));
  const auto columns = t.features.to(at::kLong).clamp(0, x.size(1) - 1);
  auto node = at::zeros({x.size(0), tree.size(0)}, tree.options());
  for (std::int64_t level = 0; level < t.depth; ++level) {
    const auto place = node + tree * inner;
    const auto right = x.gather(1, columns.take(place)) >= t.thresholds.take(place);
    node = 2 * node + 1 + right.to(at::kLong);
  }
  const auto leaf = node - inner + tree * (inner + 1);
  return t.leaves.flatten()
      .index_select(0, leaf.flatten())
      .view({x.size(0), -1, t.width})
      .sum(1);
}

kernel make_boosted_trees(const kernel_context& c) {
  // So many nodes are looked up at once, which bounds the memory of a large batch.
  constexpr auto most_places = std::int64_t{1} << 20;
  const tree_tensors t{.features = c.tensor("features"),
                       .thresholds = c.tensor("thresholds"),
                       .leaves = c.tensor("leaves"),
                       .depth = integer_setting(c.step.settings, "depth"),
                       .width = c.step.out.sizes[0]};
  return {[t](inputs in, bool) {
    const auto rows = std::max<std::int64_t>(1, most_places / t.leaves.size(0));
    std::vector<at::Tensor> sums;
    for (const auto& part : in[0].split(rows))
      sums.push_back(sum_of_leaves(t, part));
    const auto all = sums.size() == 1 ? sums.front() : at::cat(sums);
    // A comparison has no gradient; an optimiser wants one of every parameter.
    return in[0].requires_grad() ? all + 0 * in[0].narrow(1, 0, 1) : all;
  }};
}

kernel make_mixture(const kernel_context& c) {
  return {
      [of_probabilities = text_setting(c.step.settings, "of").ends_with("probabilities"),
       shares = c.tensor("shares"), temperature = c.tensor("temperature"),
       least = c.tensor("least")](inputs in, bool) {
        at::Tensor sum;
        for (std::size_t i = 0; i < in.size(); ++i) {
          const auto said = (of_probabilities ? at::softmax(in[i], 1) : in[i])
                            * shares[static_cast<std::int64_t>(i)];
          sum = i == 0 ? said : sum + said;
        }
        if (!of_probabilities)
          return least.defined() ? bounded_odds(sum, least) : sum;
        const auto scores = at::clamp_min(sum, 1e-12).log() / temperature;
        return least.defined() ? bounded_scores(scores, least) : scores;
      }};
}

constexpr std::array rows{
    kernel_row{"select", make_select},
    kernel_row{"piecewise", make_piecewise},
    kernel_row{"periodic", make_periodic},
    kernel_row{"map_each", make_map_each},
    kernel_row{"boosted_trees", make_boosted_trees},
    kernel_row{"mixture", make_mixture},
};

} // namespace

at::Tensor bounded_scores(const at::Tensor& scores, const at::Tensor& least) {
  const auto rest = 1 - static_cast<double>(scores.size(1)) * least;
  return (at::softmax(scores, 1) * rest + least).log();
}

at::Tensor bounded_odds(const at::Tensor& odds, const at::Tensor& least) {
  return at::logit(at::sigmoid(odds) * (1 - 2 * least) + least);
}

std::span<const kernel_row> table_kernels() {
  return rows;
}

} // namespace clade
