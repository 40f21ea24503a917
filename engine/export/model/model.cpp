// A block (conv, separable_conv, depthwise_conv, dense) is a map, a norm and an
// activation; the other operators are one step each. `ways` names the function that takes
// each operator apart. The computations of modules stand in
// engine/training/network/operator_modules.cpp and pool_modules.cpp.

#include "engine/export/model/model.hpp"

#include "engine/report/base/format.hpp"
#include "genome/base/text.hpp"
#include "search_spaces/operators/operators.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>

namespace clade {
namespace {

using sizes = std::vector<std::int64_t>;

class lowering {
public:
  explicit lowering(std::span<const weight_tensor> weights) : given_(weights) {
    out_.run_tensors.resize(weights.size());
    for (const auto& w : weights)
      by_name_.emplace(w.name, &w);
  }

  expected<exported_model> all(const network& n) {
    for (const auto& l : n.layers) {
      layer_ = &l;
      take_layer();
      if (fault_)
        return tl::unexpected(std::move(*fault_));
      last_.push_back(out_.steps.size() - 1);
    }
    if (out_.weights.size() != given_.size())
      return fail(error_kind::corrupt,
                  fmt::format("weights of another network: {} tensors for {}",
                              given_.size(), out_.weights.size()));
    out_.drawing = to_text(n);
    return std::move(out_);
  }

private:
  /// How an operator is taken apart, and the word that its steps are called by.
  struct way {
    std::string_view op;
    std::string_view word;
    void (lowering::*take)();
  };
  static const std::array<way, 28> ways;

  void take_layer();
  void take_conv();
  void take_separable();
  void take_depthwise();
  void take_dense();
  void take_max_pool();
  void take_avg_pool();
  void take_average(std::int64_t kernel, std::int64_t stride);
  void take_batch_norm() { add_norm("", "", true, layer_->out); }
  void take_layer_norm() { add_norm("", "", false, layer_->out); }
  void take_channel_norm();
  void take_activation();
  void take_dropout();
  void take_resize();
  void take_map();
  void take_mixture();
  void take_select();
  void take_piecewise();
  void take_periodic();
  void take_map_each();
  void take_boosted_trees();
  template<class Step>
  void take_plain() {
    add(Step{});
  }

  std::int64_t integer(std::string_view name) const {
    return integer_setting(layer_->settings, name);
  }
  std::int64_t channels_in() const { return layer_->in.front().sizes.front(); }
  std::int64_t channels_out() const { return layer_->out.sizes.front(); }

  // The tensor of the layer that Clade calls `key`, from here on "step.role".
  tensor_index tensor(const std::string& key, const std::string& step,
                      const std::string& role, const sizes& shape) {
    const auto name = fmt::format("{}.{}", layer_->name, key);
    const auto at = by_name_.find(name);
    if (at == by_name_.end() || at->second->shape != shape) {
      if (!fault_)
        fault_ =
            error{error_kind::corrupt,
                  fmt::format("weights of another network: {}{}", name,
                              at == by_name_.end() ? " is missing"
                                                   : " is not of the shape "
                                                         + to_text(tensor_shape{shape}))};
      return 0;
    }
    out_.weights.push_back(*at->second);
    out_.weights.back().name = fmt::format("{}.{}", step, role);
    const auto place = static_cast<std::size_t>(at->second - given_.data());
    out_.run_tensors[place] = {name, out_.weights.size() - 1};
    return out_.weights.size() - 1;
  }

  // The first of a layer has the layer's inputs, those that follow the one before.
  void add(const std::string& part, operation o, tensor_shape shape) {
    export_step s{.name = word_ + part,
                  .layer = layer_->name,
                  .word = word_,
                  .computes = std::move(o)};
    if (!out_.steps.empty() && out_.steps.back().layer == layer_->name)
      s.inputs = {out_.steps.size() - 1};
    else
      for (const auto i : layer_->inputs)
        s.inputs.push_back(last_[i]);
    s.in = s.inputs.empty() ? layer_->out : out_.steps[s.inputs.front()].out;
    s.out = std::move(shape);
    out_.steps.push_back(std::move(s));
  }
  void add(operation o) { add("", std::move(o), layer_->out); }

  void add_norm(const std::string& prefix, const std::string& part, bool batch,
                const tensor_shape& shape) {
    const auto name = word_ + part;
    const sizes one{shape.sizes.front()};
    const auto weight = tensor(prefix + "weight", name, "weight", one);
    const auto bias = tensor(prefix + "bias", name, "bias", one);
    if (!batch)
      return add(part, layer_norm_step{weight, bias}, shape);
    const auto mean = tensor(prefix + "running_mean", name, "running_mean", one);
    const auto variance = tensor(prefix + "running_var", name, "running_var", one);
    add(part, batch_norm_step{weight, bias, mean, variance}, shape);
  }

  // A block, whose map has a weight of that shape and, unless a norm follows, a bias.
  template<class Map>
  void add_block(Map map, const sizes& shape) {
    const auto norm = text_setting(layer_->settings, "norm");
    const auto activation = text_setting(layer_->settings, "activation");
    map.weight = tensor("weight", word_, "weight", shape);
    if (norm == "none")
      map.bias = tensor("bias", word_, "bias", {channels_out()});
    add(map);
    if (norm != "none")
      add_norm("norm.", "_norm", norm == "batch", layer_->out);
    if (activation != "none")
      add("_activation", activation_step{activation}, layer_->out);
  }

  // The window settings of a convolution.
  convolution_step window() const {
    const auto dilation = integer("dilation");
    return {.stride = integer("stride"),
            .padding = dilation * (integer("kernel") - 1) / 2,
            .dilation = dilation};
  }

  std::span<const weight_tensor> given_;
  std::map<std::string, const weight_tensor*> by_name_;
  std::map<std::string, int> numbers_;
  exported_model out_;
  std::vector<std::size_t> last_; ///< The last step of each layer.
  const layer* layer_ = nullptr;
  std::string word_;
  std::optional<error> fault_;
};

void lowering::take_conv() {
  const auto k = integer("kernel");
  add_block(window(), {channels_out(), channels_in(), k, k});
}

void lowering::take_depthwise() {
  const auto k = integer("kernel");
  auto map = window();
  map.groups = channels_in();
  add_block(map, {channels_out(), 1, k, k});
}

void lowering::take_separable() {
  const auto k = integer("kernel"), in = channels_in();
  auto depthwise = window();
  depthwise.groups = in;
  depthwise.weight = tensor("depthwise", word_ + "_depthwise", "weight", {in, 1, k, k});
  add("_depthwise", depthwise, {{in, layer_->out.sizes[1], layer_->out.sizes[2]}});
  add_block(convolution_step{}, {channels_out(), in, 1, 1});
}

void lowering::take_dense() {
  add_block(linear_step{}, {channels_out(), channels_in()});
}

void lowering::take_average(std::int64_t kernel, std::int64_t stride) {
  const auto spans = [&](std::int64_t size) {
    std::vector<std::pair<std::int64_t, std::int64_t>> out;
    const auto places = windows(size, kernel, stride);
    for (std::int64_t i = 0; i < places.out; ++i) {
      const auto from = i * stride - places.before;
      out.emplace_back(std::max<std::int64_t>(from, 0), std::min(from + kernel, size));
    }
    return out;
  };
  const auto& in = layer_->in.front().sizes;
  add(average_step{spans(in[1]), spans(in[2])});
}

void lowering::take_max_pool() {
  const auto kernel = integer("kernel"), stride = integer("stride");
  const auto& in = layer_->in.front().sizes;
  const auto rows = windows(in[1], kernel, stride);
  const auto columns = windows(in[2], kernel, stride);
  const auto half = kernel / 2;
  add(kernel % 2 == 1 ? max_pool_step{kernel, stride, half, half, half, half}
                      : max_pool_step{kernel, stride, rows.before, columns.before,
                                      rows.after, columns.after});
}

void lowering::take_avg_pool() {
  const auto kernel = integer("kernel"), stride = integer("stride");
  const auto& in = layer_->in.front().sizes;
  const auto rows = windows(in[1], kernel, stride);
  const auto columns = windows(in[2], kernel, stride);
  const bool odd = kernel % 2 == 1;
  if (odd || rows.before + rows.after + columns.before + columns.after == 0)
    return add(avg_pool_step{kernel, stride, odd ? kernel / 2 : 0});
  take_average(kernel, stride);
}

void lowering::take_resize() {
  const auto spans = [](std::int64_t out, std::int64_t in) {
    std::vector<std::pair<std::int64_t, std::int64_t>> all;
    for (std::int64_t i = 0; i < out; ++i)
      all.emplace_back(i * in / out, ((i + 1) * in + out - 1) / out);
    return all;
  };
  const auto& in = layer_->in.front().sizes;
  const auto& out = layer_->out.sizes;
  add(average_step{spans(out[1], in[1]), spans(out[2], in[2])});
}

void lowering::take_channel_norm() {
  const sizes one{channels_out()};
  const auto weight = tensor("weight", word_, "weight", one);
  const auto bias = tensor("bias", word_, "bias", one);
  add(channel_norm_step{weight, bias});
}

void lowering::take_activation() {
  add(activation_step{text_setting(layer_->settings, "function")});
}

void lowering::take_dropout() {
  add(dropout_step{real_setting(layer_->settings, "rate")});
}

void lowering::take_mixture() {
  const auto members = static_cast<std::int64_t>(layer_->in.size());
  const auto shares = tensor("shares", word_, "shares", {members});
  const auto temperature = tensor("temperature", word_, "temperature", {1});
  const auto& of = text_setting(layer_->settings, "of");
  mixture_step step{of != "values", shares, temperature};
  if (of == "bounded_probabilities")
    step.least = tensor("least", word_, "least", {1});
  add(step);
}

void lowering::take_map() {
  const bool image = layer_->out.layout() == layout::image;
  const auto in = channels_in(), out = channels_out();
  const auto weight =
      tensor("weight", word_, "weight", image ? sizes{out, in, 1, 1} : sizes{out, in});
  const auto bias = tensor("bias", word_, "bias", {out});
  if (image)
    add(convolution_step{.weight = weight, .bias = bias});
  else
    add(linear_step{weight, bias});
}

void lowering::take_select() {
  add(select_step{layer_->selected});
}

void lowering::take_piecewise() {
  add(piecewise_step{
      tensor("edges", word_, "edges", {channels_in(), integer("bins") + 1})});
}

void lowering::take_periodic() {
  add(periodic_step{tensor("frequencies", word_, "frequencies",
                           {channels_in(), integer("frequencies")})});
}

void lowering::take_map_each() {
  const auto groups = integer("groups"), width = integer("width");
  const auto weight =
      tensor("weight", word_, "weight", {groups, channels_in() / groups, width});
  const auto bias = tensor("bias", word_, "bias", {groups, width});
  add(map_each_step{weight, bias});
}

void lowering::take_boosted_trees() {
  const auto trees = integer("trees") * channels_out();
  const auto leaves = std::int64_t{1} << integer("depth");
  const auto features = tensor("features", word_, "features", {trees, leaves - 1});
  const auto thresholds = tensor("thresholds", word_, "thresholds", {trees, leaves - 1});
  add(boosted_trees_step{features, thresholds,
                         tensor("leaves", word_, "leaves", {trees, leaves})});
}

constexpr std::array<lowering::way, 28> lowering::ways{{
    {"input", "input", &lowering::take_plain<input_step>},
    {"conv", "conv", &lowering::take_conv},
    {"separable_conv", "separable", &lowering::take_separable},
    {"depthwise_conv", "depthwise", &lowering::take_depthwise},
    {"max_pool", "max_pool", &lowering::take_max_pool},
    {"avg_pool", "avg_pool", &lowering::take_avg_pool},
    {"global_avg_pool", "global_avg_pool", &lowering::take_plain<global_avg_step>},
    {"global_max_pool", "global_max_pool", &lowering::take_plain<global_max_step>},
    {"dense", "dense", &lowering::take_dense},
    {"batch_norm", "batch_norm", &lowering::take_batch_norm},
    {"layer_norm", "layer_norm", &lowering::take_layer_norm},
    {"channel_norm", "channel_norm", &lowering::take_channel_norm},
    {"activation", "activation", &lowering::take_activation},
    {"dropout", "dropout", &lowering::take_dropout},
    {"add", "add", &lowering::take_plain<add_step>},
    {"multiply", "multiply", &lowering::take_plain<multiply_step>},
    {"concat", "concat", &lowering::take_plain<concat_step>},
    {"flatten", "flatten", &lowering::take_plain<flatten_step>},
    {"as_image", "as_image", &lowering::take_plain<as_image_step>},
    {"resize", "resize", &lowering::take_resize},
    {"project", "project", &lowering::take_map},
    {"mixture", "mixture", &lowering::take_mixture},
    {"select", "select", &lowering::take_select},
    {"piecewise", "piecewise", &lowering::take_piecewise},
    {"periodic", "periodic", &lowering::take_periodic},
    {"map_each", "map_each", &lowering::take_map_each},
    {"boosted_trees", "trees", &lowering::take_boosted_trees},
    {"output", "output", &lowering::take_map},
}};

void lowering::take_layer() {
  const auto found = std::ranges::find(ways, layer_->op, &way::op);
  if (found == ways.end()) {
    fault_ = error{error_kind::invalid_input,
                   fmt::format("the operator \"{}\" cannot be exported", layer_->op)};
    return;
  }
  const auto role = operator_of(*layer_).role;
  word_ = found->word;
  if (role != operator_role::input && role != operator_role::output)
    word_ += std::to_string(++numbers_[layer_->op]);
  (this->*found->take)();
}

} // namespace

expected<exported_model> export_network(const network& n,
                                        std::span<const weight_tensor> weights) {
  return lowering(weights).all(n);
}

mixed_answers mixed_for(const learning_task& task, bool bounded) {
  return !task.has_classes() ? mixed_answers::values
         : bounded           ? mixed_answers::bounded_probabilities
                             : mixed_answers::probabilities;
}

std::vector<std::string> names_of(const preprocessing& how) {
  std::vector<std::string> out;
  for (const auto& c : how.columns)
    if (!c.name.empty())
      out.push_back(c.name);
  return out;
}

std::string title_of(const exported_model& m) {
  if (m.run.empty())
    return "a network before its training";
  std::string out =
      fmt::format("{} of {}", m.id == 0 ? "the final model" : numbered(m.id), m.run);
  for (std::size_t i = 0; i < m.metrics.size(); ++i)
    out += fmt::format("{}{} {}", i == 0 ? ": " : ", ", m.metrics[i].name,
                       metric_text(m.metrics[i].value));
  return out;
}

std::string literal(double v) {
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), v).ptr;
  std::string text(digits.data(), end);
  return text.find_first_of(".en") == std::string::npos ? text + ".0" : text;
}

} // namespace clade
