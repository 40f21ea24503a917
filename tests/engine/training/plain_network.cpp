#include "tests/engine/training/plain_network.hpp"

#include "genome/base/random.hpp"
#include "search_spaces/operators/operators.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <functional>

namespace clade::test {

namespace {

using values = std::vector<double>;

std::size_t natural(std::int64_t n) {
  return static_cast<std::size_t>(n);
}

/// A vector has one pixel. A sequence is held here as an image of one row, whose channels
/// are its features.
struct image {
  explicit image(const tensor_shape& s)
      : channels(s.units()),
        height(s.layout() == layout::image ? s.sizes[1] : 1),
        width(s.layout() == layout::image      ? s.sizes[2]
              : s.layout() == layout::sequence ? s.sizes[0]
                                               : 1) {}

  [[nodiscard]] std::size_t at(std::int64_t c, std::int64_t y, std::int64_t x) const {
    return natural((c * height + y) * width + x);
  }

  std::int64_t channels, height, width;
};

/// Values by row and column, so many rows, become those by column and row.
values turned(const values& x, std::int64_t rows) {
  const auto columns = std::ssize(x) / rows;
  values out;
  for (std::int64_t c = 0; c < columns; ++c)
    for (std::int64_t r = 0; r < rows; ++r)
      out.push_back(x[natural(r * columns + c)]);
  return out;
}

class computation {
public:
  computation(const layer& l, const std::vector<weight_tensor>& weights)
      : layer_(l),
        weights_(weights),
        out_(l.out) {}

  values of(const std::vector<const values*>& in) {
    const auto& op = layer_.op;
    const auto& x = in.empty() ? values{} : *in[0];
    if (op == "conv" || op == "conv1d" || op == "depthwise_conv")
      return block(convolved(x, "weight", op == "depthwise_conv", out_));
    if (op == "separable_conv") {
      auto between = layer_.out;
      between.sizes[0] = layer_.in[0].sizes[0];
      return block(
          pointwise(convolved(x, "depthwise", true, image(between)), between.sizes[0]));
    }
    if (op == "dense")
      return block(pointwise(x, layer_.in[0].units()));
    if (op == "project" || op == "output")
      return shifted(pointwise(x, layer_.in[0].units()), "bias");
    if (op == "batch_norm")
      return normalised(x, "");
    if (op == "activation")
      return activated(x, text_setting(layer_.settings, "function"));
    if (op == "select" || op == "piecewise" || op == "periodic" || op == "map_each")
      return of_columns(x);
    if (op == "boosted_trees")
      return sums_of_trees(x);
    if (op == "channel_norm")
      return normalised_by_pixel(x);
    if (op == "multiply")
      return multiplied(in);
    if (op == "concat" || op == "add")
      return merged(in);
    if (op == "global_avg_pool")
      return averaged(x);
    if (op == "flatten" && layer_.in[0].layout() == layout::sequence)
      return turned(x, layer_.in[0].units());
    if (op != "dropout" && op != "flatten" && op != "as_image" && op != "as_sequence")
      FAIL("nothing computes " << op);
    return x;
  }

private:
  const weight_tensor* tensor(const std::string& role) const {
    const auto found =
        std::ranges::find(weights_, layer_.name + "." + role, &weight_tensor::name);
    return found == weights_.end() ? nullptr : &*found;
  }

  values merged(const std::vector<const values*>& in) const {
    auto sum = *in[0];
    for (std::size_t i = 1; i < in.size(); ++i)
      if (layer_.op == "concat")
        sum.insert(sum.end(), in[i]->begin(), in[i]->end());
      else
        std::ranges::transform(sum, *in[i], sum.begin(), std::plus{});
    return sum;
  }

  values of_columns(const values& x) const {
    values out;
    if (layer_.op == "select")
      for (const auto i : layer_.selected)
        out.push_back(x[natural(i)]);
    const auto* w = tensor(layer_.op == "piecewise"  ? "edges"
                           : layer_.op == "periodic" ? "frequencies"
                                                     : "weight");
    const auto size = w == nullptr ? 0 : natural(w->shape[1]);
    const auto at = [&](std::size_t row, std::size_t column) {
      return static_cast<double>(w->values[row * size + column]);
    };
    for (std::size_t i = 0; i < x.size() && layer_.op == "piecewise"; ++i)
      for (std::size_t b = 0; b + 1 < size; ++b)
        out.push_back(std::clamp((x[i] - at(i, b))
                                     / std::max(at(i, b + 1) - at(i, b), narrowest_bin),
                                 0.0, 1.0));
    for (std::size_t i = 0; i < x.size() && layer_.op == "periodic"; ++i)
      for (const bool sine : {false, true})
        for (std::size_t f = 0; f < size; ++f) {
          const auto turn = 2 * 3.14159265358979 * at(i, f) * x[i];
          out.push_back(sine ? std::sin(turn) : std::cos(turn));
        }
    if (layer_.op == "map_each") {
      const auto width = natural(w->shape[2]);
      for (std::size_t o = 0; o < natural(w->shape[0]) * width; ++o) {
        out.push_back(static_cast<double>(tensor("bias")->values[o]));
        for (std::size_t i = 0; i < size; ++i)
          out.back() += x[o / width * size + i]
                        * static_cast<double>(
                            w->values[(o / width * size + i) * width + o % width]);
      }
    }
    return out;
  }

  values sums_of_trees(const values& x) const {
    const auto& leaves = *tensor("leaves");
    const auto inner = natural(leaves.shape[1]) - 1;
    values out(natural(out_.channels));
    for (std::size_t t = 0; t < natural(leaves.shape[0]); ++t) {
      std::size_t node = 0;
      while (node < inner) {
        const auto at = t * inner + node;
        const auto feature = static_cast<std::size_t>(tensor("features")->values[at]);
        const bool below =
            x[feature] < static_cast<double>(tensor("thresholds")->values[at]);
        node = 2 * node + (below ? 1 : 2);
      }
      out[t % out.size()] +=
          static_cast<double>(leaves.values[t * (inner + 1) + node - inner]);
    }
    return out;
  }

  // The first may have one value for each channel of the last.
  static values multiplied(const std::vector<const values*>& in) {
    auto product = *in[1];
    for (std::size_t i = 0; i < product.size(); ++i)
      product[i] *= (*in[0])[i * in[0]->size() / product.size()];
    return product;
  }

  values normalised_by_pixel(const values& x) const {
    const image shape(layer_.in[0]);
    const auto channels = natural(shape.channels);
    const auto pixels = x.size() / channels;
    auto out = x;
    for (std::size_t p = 0; p < pixels; ++p) {
      double mean = 0, variance = 0;
      for (std::size_t c = 0; c < channels; ++c)
        mean += x[c * pixels + p] / static_cast<double>(channels);
      for (std::size_t c = 0; c < channels; ++c)
        variance += std::pow(x[c * pixels + p] - mean, 2) / static_cast<double>(channels);
      for (std::size_t c = 0; c < channels; ++c)
        out[c * pixels + p] = (x[c * pixels + p] - mean) / std::sqrt(variance + 1e-5)
                                  * static_cast<double>(tensor("weight")->values[c])
                              + static_cast<double>(tensor("bias")->values[c]);
    }
    return out;
  }

  values averaged(const values& x) const {
    const image shape(layer_.in[0]);
    values out(natural(shape.channels));
    for (std::int64_t c = 0; c < shape.channels; ++c)
      for (std::int64_t y = 0; y < shape.height; ++y)
        for (std::int64_t u = 0; u < shape.width; ++u)
          out[natural(c)] +=
              x[shape.at(c, y, u)] / static_cast<double>(shape.height * shape.width);
    return out;
  }

  values convolved(const values& x, const char* role, bool each_alone,
                   const image& out) const {
    const auto& w = *tensor(role);
    const image in(layer_.in[0]);
    const auto kernel = w.shape.back(), columns = w.shape[1];
    const auto rows = w.shape.size() == 3 ? 1 : kernel;
    const auto stride = integer_setting(layer_.settings, "stride");
    const auto dilation = integer_setting(layer_.settings, "dilation");
    values result(natural(out.channels * out.height * out.width));
    const auto add = [&](std::int64_t o, std::int64_t i, std::int64_t y, std::int64_t u) {
      double sum = 0;
      for (std::int64_t a = 0; a < rows; ++a)
        for (std::int64_t b = 0; b < kernel; ++b) {
          const auto row = y * stride + dilation * (a - (rows - 1) / 2);
          const auto column = u * stride + dilation * (b - (kernel - 1) / 2);
          if (row >= 0 && row < in.height && column >= 0 && column < in.width)
            sum += x[in.at(each_alone ? o : i, row, column)]
                   * static_cast<double>(
                       w.values[natural(((o * columns + i) * rows + a) * kernel + b)]);
        }
      result[out.at(o, y, u)] += sum;
    };
    for (std::int64_t o = 0; o < out.channels; ++o)
      for (std::int64_t i = 0; i < columns; ++i)
        for (std::int64_t y = 0; y < out.height; ++y)
          for (std::int64_t u = 0; u < out.width; ++u)
            add(o, i, y, u);
    return result;
  }

  values pointwise(const values& x, std::int64_t inputs) const {
    const auto& w = *tensor("weight");
    const auto pixels = std::ssize(x) / inputs;
    values out(natural(out_.channels * pixels));
    for (std::int64_t o = 0; o < out_.channels; ++o)
      for (std::int64_t i = 0; i < inputs; ++i)
        for (std::int64_t p = 0; p < pixels; ++p)
          out[natural(o * pixels + p)] +=
              static_cast<double>(w.values[natural(o * inputs + i)])
              * x[natural(i * pixels + p)];
    return out;
  }

  values shifted(values x, const char* role) const {
    if (const auto* bias = tensor(role))
      for (std::size_t i = 0; i < x.size(); ++i)
        x[i] += static_cast<double>(bias->values[i * bias->values.size() / x.size()]);
    return x;
  }

  values normalised(values x, const std::string& before) const {
    const auto* weight = tensor(before + "weight");
    if (weight == nullptr)
      return x;
    const auto* mean = tensor(before + "running_mean");
    REQUIRE(mean != nullptr); // Norm "layer" is not computed here.
    const auto* variance = tensor(before + "running_var");
    const auto* bias = tensor(before + "bias");
    for (std::size_t i = 0; i < x.size(); ++i) {
      const auto c = i * weight->values.size() / x.size();
      x[i] = (x[i] - static_cast<double>(mean->values[c]))
                 / std::sqrt(static_cast<double>(variance->values[c]) + 1e-5)
                 * static_cast<double>(weight->values[c])
             + static_cast<double>(bias->values[c]);
    }
    return x;
  }

  values block(values x) const {
    return activated(normalised(shifted(std::move(x), "bias"), "norm."),
                     text_setting(layer_.settings, "activation"));
  }

  static values activated(values x, const std::string& how) {
    for (auto& v : x)
      if (how == "relu")
        v = std::max(v, 0.0);
      else if (how == "tanh")
        v = std::tanh(v);
      else if (how == "sigmoid")
        v = 1 / (1 + std::exp(-v));
      else if (how == "gelu")
        v = v / 2 * (1 + std::erf(v / std::sqrt(2.0)));
      else
        REQUIRE(how == "none");
    return x;
  }

  const layer& layer_;
  const std::vector<weight_tensor>& weights_;
  image out_;
};

class drawing {
public:
  explicit drawing(std::uint64_t seed) : random_(derive(seed, purpose::training, 0, 0)) {}

  void add(const layer& l, const std::string& role, std::vector<std::int64_t> shape) {
    std::int64_t count = 1;
    for (const auto s : shape)
      count *= s;
    weight_tensor t{l.name + "." + role, std::move(shape), {}};
    const bool positive = role.ends_with("var");
    for (std::int64_t i = 0; i < count; ++i)
      t.values.push_back(static_cast<float>(positive ? 0.5 + random_.uniform()
                                                     : random_.uniform() - 0.4));
    all.push_back(std::move(t));
  }

  void add_norm(const layer& l, const std::string& before) {
    for (const auto* role : {"weight", "bias", "running_mean", "running_var"})
      add(l, before + role, {l.out.units()});
  }

  std::vector<weight_tensor> all;

private:
  random_stream random_;
};

} // namespace

std::vector<double> compute(const network& n, const std::vector<weight_tensor>& weights,
                            const std::vector<double>& example) {
  const auto& input = n.layers.front().out;
  const bool sequence = input.layout() == layout::sequence;
  std::vector<values> outputs{sequence ? turned(example, input.sizes[0]) : example};
  for (const auto& l : std::span(n.layers).subspan(1)) {
    std::vector<const values*> in;
    for (const auto i : l.inputs)
      in.push_back(&outputs[i]);
    outputs.push_back(computation(l, weights).of(in));
  }
  return outputs.back();
}

std::vector<weight_tensor> random_weights(const network& n, std::uint64_t seed) {
  drawing d(seed);
  for (const auto& l : n.layers) {
    const auto out = l.out.units(), in = l.in.empty() ? 0 : l.in[0].units();
    const bool block = find(l.settings, "activation") != nullptr;
    if (l.op == "conv" || l.op == "separable_conv" || l.op == "depthwise_conv") {
      const auto k = integer_setting(l.settings, "kernel");
      if (l.op == "separable_conv")
        d.add(l, "depthwise", {in, 1, k, k});
      if (l.op == "separable_conv")
        d.add(l, "weight", {out, in, 1, 1});
      else
        d.add(l, "weight", {out, l.op == "conv" ? in : 1, k, k});
    } else if (l.op == "conv1d") {
      d.add(l, "weight", {out, in, integer_setting(l.settings, "kernel")});
    } else if (l.op == "dense" || l.op == "project" || l.op == "output") {
      std::vector<std::int64_t> shape{out, in};
      if (l.out.layout() != layout::vector)
        shape.resize(l.out.layout() == layout::image ? 4 : 3, 1);
      d.add(l, "weight", shape);
    }
    if (l.op == "piecewise") {
      d.add(l, "edges", {in, integer_setting(l.settings, "bins") + 1});
      auto& edges = d.all.back();
      for (std::size_t i = 1; i < edges.values.size(); ++i)
        if (i % natural(edges.shape[1]) != 0)
          edges.values[i] = edges.values[i - 1] + std::abs(edges.values[i]);
    } else if (l.op == "periodic") {
      d.add(l, "frequencies", {in, integer_setting(l.settings, "frequencies")});
    } else if (l.op == "map_each") {
      const auto groups = integer_setting(l.settings, "groups");
      d.add(l, "weight", {groups, in / groups, out / groups});
      d.add(l, "bias", {groups, out / groups});
    }
    if (l.op == "boosted_trees") {
      const auto trees = integer_setting(l.settings, "trees") * out;
      const auto leaves = std::int64_t{1} << integer_setting(l.settings, "depth");
      for (const auto* role : {"features", "thresholds"})
        d.add(l, role, {trees, leaves - 1});
      auto& features = d.all[d.all.size() - 2].values;
      for (std::size_t i = 0; i < features.size(); ++i)
        features[i] = static_cast<float>(i % natural(in));
      d.add(l, "leaves", {trees, leaves});
    }
    if (l.op == "random_convolutions") {
      const auto parts = 2 * integer_setting(l.settings, "dilations");
      const auto kernels = integer_setting(l.settings, "kernels");
      const auto all = kernels + 8 * integer_setting(l.settings, "groups");
      d.add(l, "weight", {parts, all, l.in[0].sizes[1], 9});
      d.add(l, "thresholds", {parts, kernels, integer_setting(l.settings, "thresholds")});
    }
    if (l.op == "batch_norm")
      d.add_norm(l, "");
    else if (l.op == "channel_norm")
      for (const auto* role : {"weight", "bias"})
        d.add(l, role, {out});
    else if (block && text_setting(l.settings, "norm") != "none")
      d.add_norm(l, "norm.");
    else if (block || l.op == "project" || l.op == "output")
      d.add(l, "bias", {out});
  }
  return d.all;
}

} // namespace clade::test
