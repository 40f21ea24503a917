// The embeddings of numbers of Gorishniy et al., "On Embeddings for Numerical Features in
// Tabular Deep Learning" (NeurIPS 2022).
#include "engine/training/table_modules.hpp"

#include "search_spaces/operators.hpp"

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

} // namespace clade
