// The embeddings of numbers of Gorishniy et al., "On Embeddings for Numerical Features in
// Tabular Deep Learning" (NeurIPS 2022).
#include "engine/training/network/table_modules.hpp"

#include "search_spaces/operators/operators.hpp"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace clade {
namespace {

using inputs = std::span<const at::Tensor>;

class select_module final : public layer_module {
public:
  explicit select_module(const layer& l) {
    auto chosen = l.selected;
    for (auto i = std::ssize(chosen); i < l.out.sizes[0]; ++i)
      chosen.push_back(i);
    columns_ = at::tensor(chosen, at::kLong);
  }

  at::Tensor forward(inputs in) override {
    if (columns_.device() != in[0].device())
      columns_ = columns_.to(in[0].device());
    return in[0].index_select(1, columns_);
  }

private:
  at::Tensor columns_; ///< A constant: no buffer, since it is no part of the weights.
};

// The edges are a buffer: they are constants of the model and part of its weights.
class piecewise_module final : public layer_module {
public:
  explicit piecewise_module(const layer& l) : bins_(integer_setting(l.settings, "bins")) {
    edges_ = register_buffer(
        "edges", at::linspace(-2, 2, bins_ + 1).repeat({l.in[0].sizes[0], 1}));
  }

  at::Tensor forward(inputs in) override {
    const auto low = edges_.narrow(1, 0, bins_);
    const auto width = (edges_.narrow(1, 1, bins_) - low).clamp_min(narrowest_bin);
    return ((in[0].unsqueeze(2) - low) / width).clamp(0, 1).flatten(1);
  }

  bool observes() const override { return true; }

  // The edges become quantiles: values that examples have, so that no rounding decides on
  // which side of an edge they lie.
  void observe(const at::Tensor& x) override {
    const auto sorted = std::get<0>(x.detach().cpu().sort(0)).t().contiguous();
    std::vector<std::int64_t> ranks;
    for (std::int64_t i = 0; i <= bins_; ++i)
      ranks.push_back(i * (sorted.size(1) - 1) / bins_);
    const at::NoGradGuard no_grad;
    edges_.copy_(sorted.index_select(1, at::tensor(ranks, at::kLong)));
  }

private:
  std::int64_t bins_;
  at::Tensor edges_; ///< [features, bins + 1]
};

class periodic_module final : public layer_module {
public:
  periodic_module(const layer& l, layer_context& c) {
    const auto sigma = real_setting(l.settings, "sigma");
    auto drawn = at::empty({l.in[0].sizes[0], integer_setting(l.settings, "frequencies")},
                           at::kFloat);
    auto* values = drawn.data_ptr<float>();
    for (std::int64_t i = 0; i < drawn.numel(); ++i)
      values[i] = static_cast<float>(sigma * c.random.normal());
    frequencies_ = register_parameter("frequencies", drawn);
  }

  at::Tensor forward(inputs in) override {
    const auto turns = in[0].unsqueeze(2) * frequencies_ * (2 * std::numbers::pi);
    return at::cat({turns.cos(), turns.sin()}, 2).flatten(1);
  }

private:
  at::Tensor frequencies_; ///< [features, frequencies]
};

class map_each_module final : public layer_module {
public:
  map_each_module(const layer& l, layer_context& c)
      : groups_(integer_setting(l.settings, "groups")) {
    const auto in = l.in[0].sizes[0] / groups_, out = l.out.sizes[0] / groups_;
    auto drawn = at::empty({groups_, in, out}, at::kFloat);
    const double bound = std::sqrt(2.0) * std::sqrt(3.0 / static_cast<double>(in));
    auto* values = drawn.data_ptr<float>();
    for (std::int64_t i = 0; i < drawn.numel(); ++i)
      values[i] = static_cast<float>((2 * c.random.uniform() - 1) * bound);
    weight_ = register_parameter("weight", drawn);
    bias_ = register_parameter("bias", at::zeros({groups_, out}));
  }

  at::Tensor forward(inputs in) override {
    const auto each = in[0].reshape({in[0].size(0), groups_, -1}).transpose(0, 1);
    return (at::bmm(each, weight_).transpose(0, 1) + bias_).flatten(1);
  }

private:
  std::int64_t groups_;
  at::Tensor weight_; ///< [groups, in, out]
  at::Tensor bias_;   ///< [groups, out]
};

// All trees go down together, a level at a time: a gather finds the feature of each tree's
// node, a comparison the next node. Features and thresholds are buffers, since nothing is
// learnt of them.
class boosted_trees_module final : public layer_module {
public:
  boosted_trees_module(const layer& l, layer_context& c)
      : depth_(integer_setting(l.settings, "depth")),
        width_(l.out.sizes[0]) {
    const auto each = integer_setting(l.settings, "trees");
    const auto trees = each * width_, leaves = std::int64_t{1} << depth_;
    const auto columns = static_cast<std::uint64_t>(l.in[0].sizes[0]);
    features_ = register_buffer("features", drawn({trees, leaves - 1}, [&] {
                                  return static_cast<double>(c.random.below(columns));
                                }));
    thresholds_ = register_buffer(
        "thresholds", drawn({trees, leaves - 1}, [&] { return c.random.normal(); }));
    const double deviation = 1 / std::sqrt(static_cast<double>(each));
    leaves_ = register_parameter(
        "leaves", drawn({trees, leaves}, [&] { return deviation * c.random.normal(); }));
  }

  at::Tensor forward(inputs in) override {
    const auto rows = std::max<std::int64_t>(1, most_places / leaves_.size(0));
    std::vector<at::Tensor> sums;
    for (const auto& part : in[0].split(rows))
      sums.push_back(sum_of_leaves(part));
    const auto all = sums.size() == 1 ? sums.front() : at::cat(sums);
    // A comparison has no gradient; an optimiser wants one of every parameter.
    return in[0].requires_grad() ? all + 0 * in[0].narrow(1, 0, 1) : all;
  }

private:
  /// So many nodes are looked up at once, which bounds the memory of a large batch.
  static constexpr std::int64_t most_places = std::int64_t{1} << 20;

  template<class Draw>
  static at::Tensor drawn(at::IntArrayRef sizes, Draw draw) {
    auto t = at::empty(sizes, at::kFloat);
    auto* values = t.data_ptr<float>();
    for (std::int64_t i = 0; i < t.numel(); ++i)
      values[i] = static_cast<float>(draw());
    return t;
  }

  [[nodiscard]] at::Tensor sum_of_leaves(const at::Tensor& x) const {
    const auto inner = features_.size(1);
    const auto tree = at::arange(leaves_.size(0), x.options().dtype(at::kLong));
    const auto columns = features_.to(at::kLong).clamp(0, x.size(1) - 1);
    auto node = at::zeros({x.size(0), tree.size(0)}, tree.options());
    for (std::int64_t level = 0; level < depth_; ++level) {
      const auto place = node + tree * inner;
      const auto right = x.gather(1, columns.take(place)) >= thresholds_.take(place);
      node = 2 * node + 1 + right.to(at::kLong);
    }
    const auto leaf = node - inner + tree * (inner + 1);
    return leaves_.flatten()
        .index_select(0, leaf.flatten())
        .view({x.size(0), -1, width_})
        .sum(1);
  }

  std::int64_t depth_, width_;
  at::Tensor features_;   ///< [trees, 2^depth - 1]: whole numbers.
  at::Tensor thresholds_; ///< [trees, 2^depth - 1]
  at::Tensor leaves_;     ///< [trees, 2^depth]
};

} // namespace

std::shared_ptr<layer_module> build_select(const layer& l, layer_context&) {
  return std::make_shared<select_module>(l);
}

std::shared_ptr<layer_module> build_piecewise(const layer& l, layer_context&) {
  return std::make_shared<piecewise_module>(l);
}

std::shared_ptr<layer_module> build_periodic(const layer& l, layer_context& c) {
  return std::make_shared<periodic_module>(l, c);
}

std::shared_ptr<layer_module> build_map_each(const layer& l, layer_context& c) {
  return std::make_shared<map_each_module>(l, c);
}

std::shared_ptr<layer_module> build_boosted_trees(const layer& l, layer_context& c) {
  return std::make_shared<boosted_trees_module>(l, c);
}

} // namespace clade
