// A node, or a few, for each step; its value has the step's name. Weights are
// initializers; what prepares the examples is added by onnx_inputs.cpp. Operators that
// came after opset 17, or that onnxruntime has for some types alone, are written out in
// older ones: GELU by Erf, SiLU by Sigmoid, a layer norm by InstanceNormalization over
// one channel.

#include "engine/export/source/onnx_model.hpp"

#include "engine/export/source/onnx_graph.hpp"
#include "engine/export/source/onnx_inputs.hpp"
#include "engine/export/source/output_decoder.hpp"
#include "engine/export/source/row_source.hpp"
#include "search_spaces/operators/operators.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <numbers>
#include <set>

namespace clade {
namespace {

using names = onnx_graph::names;
using sizes = onnx_graph::sizes;

class graph_writer : private onnx_graph {
public:
  explicit graph_writer(const exported_model& m) : m_(m), how_(m.how) {}

  [[nodiscard]] bytes write();

private:
  [[nodiscard]] std::set<std::string> own_names() const;
  std::string prepared();
  [[nodiscard]] metadata properties() const;

  std::string tensor(tensor_index i) {
    const auto& w = m_.weights[i];
    return numbers(w.name, w.shape, w.values);
  }
  names map_inputs(tensor_index weight, const std::optional<tensor_index>& bias) {
    names in{x_, tensor(weight)};
    if (bias)
      in.push_back(tensor(*bias));
    return in;
  }
  std::string done(const node&) const { return step_->name; }

  // Writes the computation of each step; returns its value's name.
  std::string visit(const input_step&) { return prepared(); }
  std::string visit(const convolution_step& o);
  std::string visit(const linear_step& o);
  std::string visit(const batch_norm_step& o);
  std::string visit(const layer_norm_step& o);
  std::string visit(const channel_norm_step& o);
  std::string visit(const activation_step& o);
  std::string visit(const max_pool_step& o);
  std::string visit(const avg_pool_step& o);
  std::string visit(const average_step& o);
  std::string visit(const global_avg_step&) { return global("GlobalAveragePool"); }
  std::string visit(const global_max_step&) { return global("GlobalMaxPool"); }
  std::string visit(const dropout_step&) { return x_; }
  std::string visit(const mixture_step& o);
  std::string visit(const add_step&) { return folded("Add"); }
  std::string visit(const multiply_step&) { return folded("Mul"); }
  std::string visit(const concat_step&);
  std::string visit(const flatten_step&);
  std::string visit(const select_step& o);
  std::string visit(const piecewise_step& o);
  std::string visit(const periodic_step& o);
  std::string visit(const map_each_step& o);
  std::string visit(const boosted_trees_step& o);
  /// The step's input as [N, sizes...].
  std::string reshaped(const sizes& of_example);
  /// A tensor [N, features, width] as the step's [N, features * width].
  std::string flat(const std::string& from) {
    return done(add("Flatten", {from}, step_->name).whole("axis", 1));
  }
  std::string visit(const as_image_step&);
  std::string global(const char* op);
  /// All inputs, joined by an operator of two.
  std::string folded(const char* op);

  const exported_model& m_;
  const preprocessing& how_;
  const export_step* step_ = nullptr;
  std::string x_; ///< The step's first input.
  names inputs_;  ///< All of them.
  std::vector<onnx_input> inputs_of_model_;
};

std::string graph_writer::visit(const convolution_step& o) {
  const auto& shape = m_.weights[o.weight].shape;
  return done(add("Conv", map_inputs(o.weight, o.bias), step_->name)
                  .list("kernel_shape", {shape[2], shape[3]})
                  .list("strides", {o.stride, o.stride})
                  .list("pads", {o.padding, o.padding, o.padding, o.padding})
                  .list("dilations", {o.dilation, o.dilation})
                  .whole("group", o.groups));
}

std::string graph_writer::visit(const linear_step& o) {
  return done(add("Gemm", map_inputs(o.weight, o.bias), step_->name).whole("transB", 1));
}

std::string graph_writer::visit(const batch_norm_step& o) {
  return done(
      add("BatchNormalization",
          {x_, tensor(o.weight), tensor(o.bias), tensor(o.mean), tensor(o.variance)},
          step_->name)
          .real("epsilon", norm_epsilon));
}

std::string graph_writer::visit(const layer_norm_step& o) {
  const auto& name = step_->name;
  const auto part = [&](const char* role) { return fmt::format("{}.{}", name, role); };
  add("Reshape", {x_, shape(part("as_one"), {0, 1, -1})}, part("one"));
  add("InstanceNormalization",
      {part("one"), numbers(part("scale"), {1}, std::vector<float>{1}),
       numbers(part("offset"), {1}, std::vector<float>{0})},
      part("normal"))
      .real("epsilon", norm_epsilon);
  add("Reshape", {part("normal"), shape(part("as_before"), of_examples(step_->out))},
      part("shaped"));
  // By channel, which is the first dimension behind the batch.
  sizes per_channel(step_->out.sizes.size(), 1);
  per_channel[0] = step_->out.sizes[0];
  add("Mul",
      {part("shaped"), numbers(part("weight"), per_channel, m_.weights[o.weight].values)},
      part("scaled"));
  return done(
      add("Add",
          {part("scaled"), numbers(part("bias"), per_channel, m_.weights[o.bias].values)},
          name));
}

std::string graph_writer::visit(const channel_norm_step& o) {
  const auto& name = step_->name;
  const auto part = [&](const char* role) { return fmt::format("{}.{}", name, role); };
  const auto mean = [&](const std::string& of, const char* role) {
    add("ReduceMean", {of}, part(role)).list("axes", sizes{1}).whole("keepdims", 1);
  };
  mean(x_, "mean");
  add("Sub", {x_, part("mean")}, part("centered"));
  add("Mul", {part("centered"), part("centered")}, part("squares"));
  mean(part("squares"), "variance");
  add("Add",
      {part("variance"), numbers(part("epsilon"), {},
                                 std::vector<float>{static_cast<float>(norm_epsilon)})},
      part("positive"));
  add("Sqrt", {part("positive")}, part("deviation"));
  add("Div", {part("centered"), part("deviation")}, part("normal"));
  const sizes per_channel{step_->out.sizes[0], 1, 1};
  add("Mul",
      {part("normal"), numbers(part("weight"), per_channel, m_.weights[o.weight].values)},
      part("scaled"));
  return done(
      add("Add",
          {part("scaled"), numbers(part("bias"), per_channel, m_.weights[o.bias].values)},
          name));
}

std::string graph_writer::visit(const activation_step& o) {
  const auto& name = step_->name;
  const auto value = [&](const char* role, double v) {
    return numbers(fmt::format("{}.{}", name, role), {},
                   std::vector<float>{static_cast<float>(v)});
  };
  if (o.function == "relu")
    return done(add("Relu", {x_}, name));
  if (o.function == "leaky_relu")
    return done(add("LeakyRelu", {x_}, name).real("alpha", 0.01));
  if (o.function == "elu")
    return done(add("Elu", {x_}, name).real("alpha", 1));
  if (o.function == "tanh")
    return done(add("Tanh", {x_}, name));
  if (o.function == "sigmoid")
    return done(add("Sigmoid", {x_}, name));
  if (o.function == "silu") {
    add("Sigmoid", {x_}, name + ".gate");
    return done(add("Mul", {x_, name + ".gate"}, name));
  }
  // gelu: x/2 (1 + erf(x / sqrt 2))
  add("Mul", {x_, value("root", 1 / std::numbers::sqrt2)}, name + ".scaled");
  add("Erf", {name + ".scaled"}, name + ".erf");
  add("Add", {name + ".erf", value("one", 1)}, name + ".shifted");
  add("Mul", {x_, name + ".shifted"}, name + ".double");
  return done(add("Mul", {name + ".double", value("half", 0.5)}, name));
}

std::string graph_writer::visit(const max_pool_step& o) {
  return done(add("MaxPool", {x_}, step_->name)
                  .list("kernel_shape", {o.kernel, o.kernel})
                  .list("strides", {o.stride, o.stride})
                  .list("pads", {o.top, o.left, o.bottom, o.right}));
}

std::string graph_writer::visit(const avg_pool_step& o) {
  return done(add("AveragePool", {x_}, step_->name)
                  .list("kernel_shape", {o.kernel, o.kernel})
                  .list("strides", {o.stride, o.stride})
                  .list("pads", {o.padding, o.padding, o.padding, o.padding})
                  .whole("count_include_pad", 0));
}

std::string graph_writer::visit(const average_step& o) {
  const auto& name = step_->name;
  const auto rows = o.rows.size(), columns = o.columns.size();
  const auto height = static_cast<std::size_t>(step_->in.sizes[1]);
  const auto width = static_cast<std::size_t>(step_->in.sizes[2]);
  std::vector<float> left(rows * height, 0), right(width * columns, 0);
  const auto share = [](auto span) {
    return static_cast<float>(1.0 / static_cast<double>(span.second - span.first));
  };
  for (std::size_t i = 0; i < rows; ++i)
    for (auto r = o.rows[i].first; r < o.rows[i].second; ++r)
      left[i * height + static_cast<std::size_t>(r)] = share(o.rows[i]);
  for (std::size_t i = 0; i < columns; ++i)
    for (auto c = o.columns[i].first; c < o.columns[i].second; ++c)
      right[static_cast<std::size_t>(c) * columns + i] = share(o.columns[i]);
  const auto whole = [](std::size_t n) { return static_cast<std::int64_t>(n); };
  add("MatMul", {numbers(name + ".rows", {whole(rows), whole(height)}, left), x_},
      name + ".narrowed");
  return done(add("MatMul",
                  {name + ".narrowed",
                   numbers(name + ".columns", {whole(width), whole(columns)}, right)},
                  name));
}

std::string graph_writer::global(const char* op) {
  add(op, {x_}, step_->name + ".pixel");
  return done(add("Flatten", {step_->name + ".pixel"}, step_->name).whole("axis", 1));
}

std::string graph_writer::visit(const mixture_step& o) {
  const auto& name = step_->name;
  const auto part = [&](const std::string& role) {
    return fmt::format("{}.{}", name, role);
  };
  names weighed;
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    const auto number = std::to_string(i + 1);
    auto said = inputs_[i];
    if (o.of_probabilities) {
      add("Softmax", {said}, part("probabilities" + number)).whole("axis", 1);
      said = part("probabilities" + number);
    }
    const auto share = numbers(part("share" + number), {},
                               std::vector<float>{m_.weights[o.shares].values[i]});
    add("Mul", {said, share}, part("weighed" + number));
    weighed.push_back(part("weighed" + number));
  }
  if (!o.of_probabilities)
    return done(add("Sum", weighed, name));
  add("Sum", weighed, part("sum"));
  add("Max", {part("sum"), numbers(part("smallest"), {}, std::vector<float>{1e-12F})},
      part("positive"));
  add("Log", {part("positive")}, part("log"));
  if (!o.least)
    return done(add("Div", {part("log"), tensor(o.temperature)}, name));
  const auto classes = static_cast<float>(step_->out.sizes.front());
  const auto rest = numbers(
      part("rest"), {}, std::vector<float>{1 - classes * m_.weights[*o.least].values[0]});
  add("Div", {part("log"), tensor(o.temperature)}, part("scores"));
  add("Softmax", {part("scores")}, part("calibrated")).whole("axis", 1);
  add("Mul", {part("calibrated"), rest}, part("reduced"));
  add("Add", {part("reduced"), tensor(*o.least)}, part("bounded"));
  return done(add("Log", {part("bounded")}, name));
}

std::string graph_writer::folded(const char* op) {
  auto sum = inputs_[0];
  for (std::size_t i = 1; i < inputs_.size(); ++i) {
    const auto name = i + 1 == inputs_.size()
                          ? step_->name
                          : fmt::format("{}.first{}", step_->name, i + 1);
    add(op, {sum, inputs_[i]}, name);
    sum = name;
  }
  return sum;
}

std::string graph_writer::visit(const concat_step&) {
  return done(add("Concat", inputs_, step_->name).whole("axis", 1));
}

std::string graph_writer::visit(const flatten_step&) {
  return done(add("Flatten", {x_}, step_->name).whole("axis", 1));
}

std::string graph_writer::visit(const as_image_step&) {
  return done(add("Reshape", {x_, shape(step_->name + ".shape", of_examples(step_->out))},
                  step_->name));
}

std::string graph_writer::reshaped(const sizes& of_example) {
  const auto name = step_->name + ".sides";
  add("Reshape", {x_, shape(step_->name + ".sizes", of_examples({of_example}))}, name);
  return name;
}

std::string graph_writer::visit(const select_step& o) {
  return done(add("Gather", {x_, shape(step_->name + ".columns", o.columns)}, step_->name)
                  .whole("axis", 1));
}

std::string graph_writer::visit(const piecewise_step& o) {
  const auto part = [&](const char* role) {
    return fmt::format("{}.{}", step_->name, role);
  };
  const auto& edges = m_.weights[o.edges];
  const auto features = edges.shape[0], bins = edges.shape[1] - 1;
  std::vector<float> low, width;
  for (std::size_t i = 0; i < edges.values.size(); ++i)
    if ((i + 1) % static_cast<std::size_t>(bins + 1) != 0) {
      low.push_back(edges.values[i]);
      width.push_back(std::max(edges.values[i + 1] - edges.values[i],
                               static_cast<float>(narrowest_bin)));
    }
  const auto value = [&](const char* role, float v) {
    return numbers(part(role), {}, std::vector<float>{v});
  };
  add("Sub", {reshaped({features, 1}), numbers(part("low"), {features, bins}, low)},
      part("above"));
  add("Div", {part("above"), numbers(part("width"), {features, bins}, width)},
      part("share"));
  add("Clip", {part("share"), value("zero", 0), value("one", 1)}, part("cut"));
  return flat(part("cut"));
}

std::string graph_writer::visit(const periodic_step& o) {
  const auto part = [&](const char* role) {
    return fmt::format("{}.{}", step_->name, role);
  };
  const auto turn = static_cast<float>(2 * std::numbers::pi);
  add("Mul", {reshaped({step_->in.sizes[0], 1}), tensor(o.frequencies)}, part("turns"));
  add("Mul", {part("turns"), numbers(part("turn"), {}, std::vector<float>{turn})},
      part("angles"));
  add("Cos", {part("angles")}, part("cosines"));
  add("Sin", {part("angles")}, part("sines"));
  add("Concat", {part("cosines"), part("sines")}, part("both")).whole("axis", 2);
  return flat(part("both"));
}

std::string graph_writer::visit(const map_each_step& o) {
  const auto part = [&](const char* role) {
    return fmt::format("{}.{}", step_->name, role);
  };
  const auto& weight = m_.weights[o.weight].shape;
  add("MatMul", {reshaped({weight[0], 1, weight[1]}), tensor(o.weight)}, part("mapped"));
  const auto& bias = m_.weights[o.bias];
  add("Add", {part("mapped"), numbers(bias.name, {weight[0], 1, weight[2]}, bias.values)},
      part("shifted"));
  return flat(part("shifted"));
}

// All trees go down together, a level at a time. Nodes are counted from 0 in each tree.
std::string graph_writer::visit(const boosted_trees_step& o) {
  const auto part = [&](const char* role, std::size_t level = 0) {
    return fmt::format("{}.{}{}", step_->name, role,
                       level == 0 ? "" : std::to_string(level));
  };
  const auto trees = m_.weights[o.leaves].shape[0],
             leaves = m_.weights[o.leaves].shape[1];
  const auto width = step_->out.sizes.front();
  sizes first_nodes, first_leaves;
  for (std::int64_t t = 0; t < trees; ++t) {
    first_nodes.push_back(t * (leaves - 1));
    first_leaves.push_back(t * leaves - (leaves - 1));
  }
  const auto& columns = m_.weights[o.features].values;
  shape(part("features"), sizes(columns.begin(), columns.end()));
  for (const auto i : {o.thresholds, o.leaves})
    numbers(m_.weights[i].name, {std::ssize(m_.weights[i].values)}, m_.weights[i].values);
  const auto first = shape(part("first_nodes"), first_nodes);
  const auto one = numbers(part("one"), {}, sizes{1});
  std::string node;
  for (std::size_t level = 1; leaves >> level != 0; ++level) {
    const bool root = level == 1; // Which is the same for all examples.
    const auto place = root ? first : part("place", level);
    if (!root)
      add("Add", {node, first}, place);
    add("Gather", {part("features"), place}, part("column", level));
    add(root ? "Gather" : "GatherElements", {x_, part("column", level)},
        part("value", level))
        .whole("axis", 1);
    add("Gather", {part("thresholds"), place}, part("threshold", level));
    add("GreaterOrEqual", {part("value", level), part("threshold", level)},
        part("above", level));
    add("Add", {cast(part("above", level), element::whole64, part("right", level)), one},
        part("turn", level));
    if (!root) {
      add("Add", {node, node}, part("twice", level));
      add("Add", {part("twice", level), part("turn", level)}, part("node", level));
    }
    node = root ? part("turn", level) : part("node", level);
  }
  add("Add", {node, shape(part("first_leaves"), first_leaves)}, part("leaf"));
  add("Gather", {part("leaves"), part("leaf")}, part("said"));
  add("Reshape", {part("said"), shape(part("rounds"), {-1, trees / width, width})},
      part("by_round"));
  return done(
      add("ReduceSum", {part("by_round"), shape(part("summed"), {1})}, step_->name)
          .whole("keepdims", 0));
}

// Returns the beginnings of the names of values, which columns must not have.
std::set<std::string> graph_writer::own_names() const {
  std::set<std::string> all{
      "examples",      "label",       "class",        "classes",
      "probabilities", "value",       "scaled_value", "standardised_value",
      "double_value",  "one_value",   "target_mean",  "target_deviation",
      "input",         "input_blank", "input_mean",   "input_deviation",
      "input_largest", "input_limit", "input_least"};
  for (const auto& s : m_.steps)
    all.insert(s.name);
  return all;
}

std::string graph_writer::prepared() {
  inputs_of_model_ = add_inputs(*this, how_, own_names());
  return "examples";
}

onnx_graph::metadata graph_writer::properties() const {
  auto columns = nlohmann::json::array();
  for (const auto& i : inputs_of_model_)
    columns.push_back({{"name", i.name}, {"kind", i.kind}, {"column", i.place}});
  const auto text = [](const nlohmann::json& j) {
    return j.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  };
  metadata all{{"run", m_.run},
               {"candidate", std::to_string(m_.id)},
               {"inputs", text(columns)},
               {"columns", text(names_of(how_))}};
  for (auto& property : decoder_of(how_.task).onnx_properties(how_))
    all.push_back(std::move(property));
  return all;
}

bytes graph_writer::write() {
  names values;
  for (const auto& s : m_.steps) {
    step_ = &s;
    inputs_.clear();
    for (const auto i : s.inputs)
      inputs_.push_back(values[i]);
    x_ = inputs_.empty() ? "" : inputs_.front();
    values.push_back(std::visit([this](const auto& o) { return visit(o); }, s.computes));
  }
  decoder_of(how_.task).onnx(*this, values.back(), how_);
  return model(fmt::format("{}\n\n{}", title_of(m_), m_.drawing), properties(),
               takes_texts(how_));
}

} // namespace

bytes encode_onnx(const exported_model& m) {
  return graph_writer(m).write();
}

} // namespace clade
