#include "engine/training/network/operator_modules.hpp"

#include "engine/training/network/norm_modules.hpp"
#include "engine/training/network/pool_modules.hpp"
#include "engine/training/network/table_modules.hpp"
#include "search_spaces/operators/operators.hpp"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <array>
#include <cmath>

// One class for each kind of computation, and the table that names them.
//
// Initial values are uniform with variance gain^2 / fan_in: gain sqrt(2) before
// activations that cut one half of their input (He et al., 2015), otherwise 1 (LeCun et
// al., 1998). Biases are 0.

namespace clade {
namespace {

using inputs = std::span<const at::Tensor>;
using unary = at::Tensor (*)(const at::Tensor&);

struct activation_entry {
  std::string_view name;
  unary function;
  double gain;
};

const double half_gain = std::sqrt(2.0);

const std::array<activation_entry, 8> activations{{
    {"none", [](const at::Tensor& x) { return x; }, 1},
    {"relu", [](const at::Tensor& x) { return at::relu(x); }, half_gain},
    {"leaky_relu", [](const at::Tensor& x) { return at::leaky_relu(x, 0.01); },
     half_gain},
    {"elu", [](const at::Tensor& x) { return at::elu(x); }, half_gain},
    {"gelu", [](const at::Tensor& x) { return at::gelu(x); }, half_gain},
    {"silu", [](const at::Tensor& x) { return at::silu(x); }, half_gain},
    {"tanh", [](const at::Tensor& x) { return at::tanh(x); }, 1},
    {"sigmoid", [](const at::Tensor& x) { return at::sigmoid(x); }, 1},
}};

const activation_entry& activation_named(std::string_view name) {
  const auto found = std::ranges::find(activations, name, &activation_entry::name);
  TORCH_CHECK(found != activations.end(), "no module for the activation ", name);
  return *found;
}

std::int64_t channels_in(const layer& l) {
  return l.in.front().sizes.front();
}
std::int64_t channels_out(const layer& l) {
  return l.out.sizes.front();
}

// Fan-in is what one output adds up: all dimensions but the first.
at::Tensor initial_weight(std::vector<std::int64_t> shape, double gain,
                          layer_context& c) {
  auto weight = at::empty(shape, at::kFloat);
  const auto fan_in = static_cast<double>(weight.numel()) / static_cast<double>(shape[0]);
  const double bound = gain * std::sqrt(3.0 / fan_in);
  auto* values = weight.data_ptr<float>();
  for (std::int64_t i = 0; i < weight.numel(); ++i)
    values[i] = static_cast<float>((2 * c.random.uniform() - 1) * bound);
  return weight;
}

// The linear map of conv, separable_conv, depthwise_conv and dense, and what follows it.
class block_module : public layer_module {
public:
  explicit block_module(const layer& l)
      : activation_(activation_named(text_setting(l.settings, "activation"))),
        has_bias_(text_setting(l.settings, "norm") == "none") {
    if (has_bias_)
      bias_ = register_parameter("bias", at::zeros({channels_out(l)}));
    norm_ = register_module(
        "norm", std::make_shared<norm_module>(text_setting(l.settings, "norm"),
                                              channels_out(l), l.starts_at_zero ? 0 : 1));
    zero_weight_ = has_bias_ && l.starts_at_zero;
  }

  at::Tensor forward(inputs in) override {
    const auto mapped = map(in[0], bias_);
    return activation_.function(has_bias_ ? mapped : norm_->forward({&mapped, 1}));
  }

  void leave_out_norm() override { norm_->leave_out_norm(); }

protected:
  /// Registers the map's last weight, with its initial values.
  at::Tensor map_weight(std::vector<std::int64_t> shape, layer_context& c) {
    auto weight = initial_weight(std::move(shape), activation_.gain, c);
    return register_parameter("weight", zero_weight_ ? weight.zero_() : weight);
  }

private:
  virtual at::Tensor map(const at::Tensor& x, const at::Tensor& bias) = 0;

  const activation_entry& activation_;
  bool has_bias_;
  bool zero_weight_ = false;
  at::Tensor bias_; ///< Undefined where there is none.
  std::shared_ptr<norm_module> norm_;
};

struct convolution {
  explicit convolution(const layer& l)
      : kernel(integer_setting(l.settings, "kernel")),
        stride(integer_setting(l.settings, "stride")),
        dilation(integer_setting(l.settings, "dilation")) {}

  [[nodiscard]] at::Tensor operator()(const at::Tensor& x, const at::Tensor& weight,
                                      const at::Tensor& bias, std::int64_t groups) const {
    const auto padding = dilation * (kernel - 1) / 2;
    return at::conv2d(x, weight, bias, {stride, stride}, {padding, padding},
                      {dilation, dilation}, groups);
  }

  std::int64_t kernel, stride, dilation;
};

class conv_module final : public block_module {
public:
  conv_module(const layer& l, layer_context& c) : block_module(l), convolve_(l) {
    const auto k = convolve_.kernel;
    weight_ = map_weight({channels_out(l), channels_in(l), k, k}, c);
  }

private:
  at::Tensor map(const at::Tensor& x, const at::Tensor& bias) override {
    return convolve_(x, weight_, bias, 1);
  }

  convolution convolve_;
  at::Tensor weight_;
};

class depthwise_module final : public block_module {
public:
  depthwise_module(const layer& l, layer_context& c) : block_module(l), convolve_(l) {
    const auto k = convolve_.kernel;
    weight_ = map_weight({channels_in(l), 1, k, k}, c);
  }

private:
  at::Tensor map(const at::Tensor& x, const at::Tensor& bias) override {
    return convolve_(x, weight_, bias, weight_.size(0));
  }

  convolution convolve_;
  at::Tensor weight_;
};

class separable_module final : public block_module {
public:
  separable_module(const layer& l, layer_context& c) : block_module(l), convolve_(l) {
    const auto k = convolve_.kernel;
    depthwise_ =
        register_parameter("depthwise", initial_weight({channels_in(l), 1, k, k}, 1, c));
    weight_ = map_weight({channels_out(l), channels_in(l), 1, 1}, c);
  }

private:
  at::Tensor map(const at::Tensor& x, const at::Tensor& bias) override {
    return at::conv2d(convolve_(x, depthwise_, {}, depthwise_.size(0)), weight_, bias);
  }

  convolution convolve_;
  at::Tensor depthwise_, weight_;
};

class dense_module final : public block_module {
public:
  dense_module(const layer& l, layer_context& c) : block_module(l) {
    weight_ = map_weight({channels_out(l), channels_in(l)}, c);
  }

private:
  at::Tensor map(const at::Tensor& x, const at::Tensor& bias) override {
    return at::linear(x, weight_, bias);
  }

  at::Tensor weight_;
};

// project and output: a linear map with bias over features, or over the channels of each
// pixel.
class linear_module final : public layer_module {
public:
  linear_module(const layer& l, layer_context& c)
      : image_(l.out.layout() == layout::image) {
    std::vector<std::int64_t> shape{channels_out(l), channels_in(l)};
    if (image_)
      shape.insert(shape.end(), {1, 1});
    weight_ = register_parameter("weight", initial_weight(std::move(shape), 1, c));
    bias_ = register_parameter("bias", at::zeros({channels_out(l)}));
  }

  at::Tensor forward(inputs in) override {
    return image_ ? at::conv2d(in[0], weight_, bias_) : at::linear(in[0], weight_, bias_);
  }

private:
  bool image_;
  at::Tensor weight_, bias_;
};

class dropout_module final : public layer_module {
public:
  dropout_module(const layer& l, layer_context& c)
      : rate_(real_setting(l.settings, "rate")),
        generator_(at::globalContext().defaultGenerator(c.device).clone()) {
    generator_.set_current_seed(c.random.next());
  }

  at::Tensor forward(inputs in) override {
    if (!is_training() || rate_ == 0)
      return in[0];
    const double kept = 1 - rate_;
    at::Tensor mask;
    {
      const at::NoGradGuard no_grad;
      mask = at::empty_like(in[0]).bernoulli_(kept, generator_).mul_(1 / kept);
    }
    return in[0] * mask;
  }

  at::Generator* generator() override { return &generator_; }

private:
  double rate_;
  at::Generator generator_;
};

// Operators without parameters.
class function_module final : public layer_module {
public:
  using function = at::Tensor (*)(inputs);

  explicit function_module(function f) : f_(f) {}

  at::Tensor forward(inputs in) override { return f_(in); }

private:
  function f_;
};

class activation_module final : public layer_module {
public:
  explicit activation_module(const layer& l)
      : function_(activation_named(text_setting(l.settings, "function")).function) {}

  at::Tensor forward(inputs in) override { return function_(in[0]); }

private:
  unary function_;
};

// Weighs what the members of an ensemble say; nothing of it is trained.
class mixture_module final : public layer_module {
public:
  explicit mixture_module(const layer& l)
      : of_probabilities_(text_setting(l.settings, "of") != "values") {
    const auto members = static_cast<std::int64_t>(l.in.size());
    shares_ = register_buffer("shares",
                              at::full({members}, 1.0 / static_cast<double>(members)));
    temperature_ = register_buffer("temperature", at::ones({1}));
    if (text_setting(l.settings, "of") == "bounded_probabilities")
      least_ = register_buffer("least", at::zeros({1}));
  }

  at::Tensor forward(inputs in) override {
    at::Tensor sum;
    for (std::size_t i = 0; i < in.size(); ++i) {
      const auto said = (of_probabilities_ ? at::softmax(in[i], 1) : in[i])
                        * shares_[static_cast<std::int64_t>(i)];
      sum = i == 0 ? said : sum + said;
    }
    if (!of_probabilities_)
      return sum;
    const auto scores = at::clamp_min(sum, 1e-12).log() / temperature_;
    return least_.defined() ? bounded_scores(scores, least_) : scores;
  }

private:
  bool of_probabilities_;
  at::Tensor shares_, temperature_, least_;
};

using built = std::shared_ptr<layer_module>;

template<class Module>
built build(const layer& l, layer_context& c) {
  if constexpr (std::is_constructible_v<Module, const layer&, layer_context&>)
    return std::make_shared<Module>(l, c);
  else
    return std::make_shared<Module>(l);
}

template<function_module::function F>
built build(const layer&, layer_context&) {
  return std::make_shared<function_module>(F);
}

at::Tensor pass_on(inputs in) {
  return in[0];
}
at::Tensor mean_of_channels(inputs in) {
  return in[0].mean({2, 3});
}
at::Tensor maximum_of_channels(inputs in) {
  return in[0].amax({2, 3});
}
at::Tensor joined(inputs in) {
  return at::cat(at::TensorList(in.data(), in.size()), 1);
}
at::Tensor flat(inputs in) {
  return in[0].flatten(1);
}
at::Tensor one_pixel(inputs in) {
  return in[0].unsqueeze(2).unsqueeze(3);
}

at::Tensor product(inputs in) {
  auto all = in[0] * in[1];
  for (const auto& more : in.subspan(2))
    all = all * more;
  return all;
}

at::Tensor sum(inputs in) {
  auto total = in[0] + in[1];
  for (const auto& more : in.subspan(2))
    total = total + more;
  return total;
}

constexpr std::array modules{
    operator_module{"input", build<pass_on>},
    operator_module{"conv", build<conv_module>},
    operator_module{"separable_conv", build<separable_module>},
    operator_module{"depthwise_conv", build<depthwise_module>},
    operator_module{"max_pool", build_max_pool},
    operator_module{"avg_pool", build_avg_pool},
    operator_module{"global_avg_pool", build<mean_of_channels>},
    operator_module{"global_max_pool", build<maximum_of_channels>},
    operator_module{"dense", build<dense_module>},
    operator_module{"batch_norm", build_batch_norm},
    operator_module{"layer_norm", build_layer_norm},
    operator_module{"channel_norm", build_channel_norm},
    operator_module{"activation", build<activation_module>},
    operator_module{"dropout", build<dropout_module>},
    operator_module{"add", build<sum>},
    operator_module{"multiply", build<product>},
    operator_module{"concat", build<joined>},
    operator_module{"flatten", build<flat>},
    operator_module{"as_image", build<one_pixel>},
    operator_module{"resize", build_resize},
    operator_module{"project", build<linear_module>},
    operator_module{"mixture", build<mixture_module>},
    operator_module{"select", build_select},
    operator_module{"piecewise", build_piecewise},
    operator_module{"periodic", build_periodic},
    operator_module{"map_each", build_map_each},
    operator_module{"boosted_trees", build_boosted_trees},
    operator_module{"output", build<linear_module>},
};

} // namespace

at::Tensor bounded_scores(const at::Tensor& scores, const at::Tensor& least) {
  const auto rest = 1 - static_cast<double>(scores.size(1)) * least;
  return (at::softmax(scores, 1) * rest + least).log();
}

std::span<const operator_module> operator_modules() {
  return modules;
}

const operator_module* find_operator_module(std::string_view name) {
  const auto found = std::ranges::find(modules, name, &operator_module::name);
  return found == modules.end() ? nullptr : &*found;
}

} // namespace clade
