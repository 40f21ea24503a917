// Steps of one block stand in one expression, so that forward() has a line for each layer
// of the network, in its order. A step that has parameters, or differs between training
// and use, is a module of its own; the rest is a function.

#include "engine/export/source/python_source.hpp"

#include "engine/export/source/output_decoder.hpp"
#include "engine/export/source/python_classes.hpp"
#include "engine/export/source/python_rows.hpp"
#include "engine/export/source/row_source.hpp"
#include "genome/base/text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <functional>

namespace clade {
namespace {

using json = nlohmann::json;

std::string number(std::int64_t n) {
  return std::to_string(n);
}

// Writes the line of __init__ for a step; nothing if it is a function.
class declaration {
public:
  explicit declaration(const exported_model& m) : m_(m) {}

  std::string of(const export_step& s) {
    step_ = &s;
    return std::visit([this](const auto& o) { return (*this)(o); }, s.computes);
  }

  std::string operator()(const convolution_step& o) const {
    const auto& shape = m_.weights[o.weight].shape;
    auto text = fmt::format("nn.Conv2d({}, {}, {}", number(shape[1] * o.groups),
                            number(shape[0]), number(shape[2]));
    option(text, "stride", o.stride, 1);
    option(text, "padding", o.padding, 0);
    option(text, "dilation", o.dilation, 1);
    option(text, "groups", o.groups, 1);
    return text + (o.bias ? ")" : ", bias=False)");
  }
  std::string operator()(const linear_step& o) const {
    const auto& shape = m_.weights[o.weight].shape;
    return fmt::format("nn.Linear({}, {}{}", number(shape[1]), number(shape[0]),
                       o.bias ? ")" : ", bias=False)");
  }
  std::string operator()(const batch_norm_step&) const {
    return fmt::format("{}{})",
                       step_->out.layout() == layout::image ? "nn.BatchNorm2d("
                                                            : "nn.BatchNorm1d(",
                       number(step_->out.sizes.front()));
  }
  std::string operator()(const layer_norm_step&) const {
    return fmt::format("nn.GroupNorm(1, {})", number(step_->out.sizes.front()));
  }
  std::string operator()(const channel_norm_step&) const {
    return fmt::format("ChannelNorm({})", number(step_->out.sizes.front()));
  }
  std::string operator()(const piecewise_step& o) const {
    return fmt::format("Piecewise({})", sizes(o.edges));
  }
  std::string operator()(const periodic_step& o) const {
    return fmt::format("Periodic({})", sizes(o.frequencies));
  }
  std::string operator()(const map_each_step& o) const {
    return fmt::format("MapEach({})", sizes(o.weight));
  }
  std::string operator()(const boosted_trees_step& o) const {
    return fmt::format("BoostedTrees({}, {})", sizes(o.leaves),
                       number(step_->out.sizes.front()));
  }
  std::string operator()(const dropout_step& o) const {
    return fmt::format("nn.Dropout({})", literal(o.rate));
  }
  std::string operator()(const average_step& o) const {
    return fmt::format("Average({}, {}, {}, {})", spans(o.rows), spans(o.columns),
                       number(step_->in.sizes[1]), number(step_->in.sizes[2]));
  }
  std::string operator()(const mixture_step& o) const {
    return fmt::format("Mixture({}, {}{}", number(m_.weights[o.shares].shape[0]),
                       o.of_probabilities ? "True" : "False",
                       o.least ? ", bounded=True)" : ")");
  }
  std::string operator()(const auto&) const { return ""; }

private:
  [[nodiscard]] std::string sizes(tensor_index weight) const {
    return joined(m_.weights[weight].shape);
  }
  static void option(std::string& text, const char* name, std::int64_t v,
                     std::int64_t usual) {
    if (v != usual)
      text += fmt::format(", {}={}", name, number(v));
  }
  static std::string
  spans(const std::vector<std::pair<std::int64_t, std::int64_t>>& all) {
    std::string text;
    for (const auto& [from, to] : all)
      text +=
          fmt::format("{}{}, {})", text.empty() ? "(" : ", (", number(from), number(to));
    return fmt::format("[{}]", text);
  }

  const exported_model& m_;
  const export_step* step_ = nullptr;
};

// Writes the expression of forward() for a step, given the expressions of its inputs.
class expression {
public:
  std::string of(const export_step& s, std::vector<std::string> inputs) {
    step_ = &s;
    in_ = std::move(inputs);
    return std::visit([this](const auto& o) { return (*this)(o); }, s.computes);
  }

  std::string operator()(const input_step&) const { return "x"; }
  std::string operator()(const activation_step& o) const {
    if (o.function == "tanh" || o.function == "sigmoid")
      return fmt::format("torch.{}({})", o.function, in_[0]);
    return fmt::format("F.{}({})", o.function, in_[0]);
  }
  std::string operator()(const max_pool_step& o) const {
    auto x = in_[0];
    const bool own = o.kernel % 2 == 1;
    if (!own && o.top + o.left + o.bottom + o.right > 0)
      x = fmt::format("F.pad({}, ({}, {}, {}, {}), value=-torch.inf)", x, number(o.left),
                      number(o.right), number(o.top), number(o.bottom));
    return fmt::format("F.max_pool2d({}, {}, {}{}", x, number(o.kernel), number(o.stride),
                       own ? fmt::format(", padding={})", number(o.top)) : ")");
  }
  std::string operator()(const avg_pool_step& o) const {
    return fmt::format(
        "F.avg_pool2d({}, {}, {}{}", in_[0], number(o.kernel), number(o.stride),
        o.padding == 0
            ? ")"
            : fmt::format(", padding={}, count_include_pad=False)", number(o.padding)));
  }
  std::string operator()(const global_avg_step&) const {
    return in_[0] + ".mean((2, 3))";
  }
  std::string operator()(const global_max_step&) const {
    return in_[0] + ".amax((2, 3))";
  }
  std::string operator()(const mixture_step&) const {
    return fmt::format("self.{}({})", step_->name, joined(in_, ", "));
  }
  std::string operator()(const add_step&) const { return joined(in_, " + "); }
  std::string operator()(const multiply_step&) const { return joined(in_, " * "); }
  std::string operator()(const concat_step&) const {
    return fmt::format("torch.cat([{}], 1)", joined(in_, ", "));
  }
  std::string operator()(const select_step& o) const {
    return fmt::format("{}[:, [{}]]", in_[0], joined(o.columns));
  }
  std::string operator()(const flatten_step&) const { return in_[0] + ".flatten(1)"; }
  std::string operator()(const as_image_step&) const {
    return in_[0] + "[:, :, None, None]";
  }
  std::string operator()(const auto&) const {
    return fmt::format("self.{}({})", step_->name, in_[0]);
  }

private:
  const export_step* step_ = nullptr;
  std::vector<std::string> in_;
};

std::string tuple_of(const tensor_shape& shape) {
  return joined(shape.sizes);
}

class source {
public:
  explicit source(const exported_model& m) : m_(m), how_(m.how) {}

  std::string write() {
    head();
    constants();
    text_ += python_classes(m_.steps);
    if (takes_texts(how_))
      text_ += rows_class(how_);
    network();
    text_ += python_loading(true);
    text_ += reading_functions(how_);
    predict();
    return std::move(text_);
  }

  std::string write_untrained() {
    line(0,
         "\"\"\"A network before its training, as plain PyTorch. Its initial weights are "
         "in network.safetensors beside this file.");
    line(0, "");
    lines(1, m_.drawing);
    line(0, "");
    line(1, "from network import load");
    line(1,
         fmt::format("network = load()      # of examples [N, {}] gives outputs [N, {}]",
                     tuple_of(how_.shape), number(m_.outputs())));
    line(0, "\"\"\"\n");
    imports();
    weights_path("network");
    line(0, "");
    text_ += python_classes(m_.steps);
    line(0, "");
    line(0, "class Network(nn.Module):");
    line(0, "");
    layers();
    forward();
    text_ += python_loading(false);
    return std::move(text_);
  }

private:
  void line(int indent, const std::string& text) {
    text_ += fmt::format(
        "{}{}\n",
        text.empty() ? "" : std::string(static_cast<std::size_t>(indent) * 4, ' '), text);
  }
  void lines(int indent, const std::string& text) {
    for (std::size_t from = 0; from < text.size();) {
      const auto end = std::min(text.find('\n', from), text.size());
      line(indent, text.substr(from, end - from));
      from = end + 1;
    }
  }

  void head() {
    line(0, "\"\"\"" + title_of(m_));
    line(0, "");
    line(0,
         "A network that Clade found, as plain PyTorch. Its weights, and the numbers by "
         "which examples are scaled, are in");
    line(0, "model.safetensors beside this file. Rows are as the data file has them, "
            "without the target.");
    line(0, "");
    lines(1, m_.drawing);
    line(0, "");
    line(1, std::string("from model import predict")
                + (is_table(how_) ? ", read_rows" : ""));
    line(1,
         fmt::format("{}      # {}",
                     is_table(how_) ? "predict(read_rows(\"new.csv\"))" : "predict(rows)",
                     decoder_.result));
    line(0, "\"\"\"\n");
    imports(is_table(how_));
  }

  void imports(bool of_table = false) {
    lines(0, fmt::format(
                 "{}import json\nimport math\nimport pathlib\nimport struct\n{}\nimport "
                 "torch\nfrom torch import nn\nfrom torch.nn import functional as F\n",
                 of_table ? "import csv\nimport gzip\nimport io\n" : "",
                 of_table ? "import sys\n" : ""));
    line(0, "");
  }

  void weights_path(const std::string& name) {
    line(0, fmt::format("WEIGHTS = pathlib.Path(__file__).with_name(\"{}.safetensors\")",
                        name));
  }

  void constants() {
    weights_path("model");
    for (const auto& [name, text] : decoder_.python_constants(how_))
      line(0, fmt::format("{} = {}", name, text));
    if (is_table(how_))
      text_ += table_constants(how_);
    line(0, "");
  }

  void network() {
    line(0, "");
    line(0, "class Network(nn.Module):");
    line(1, fmt::format("\"\"\"Of prepared examples [N, {}] {} [N, {}].\"\"\"",
                        tuple_of(how_.shape), decoder_.outputs, number(m_.outputs())));
    line(0, "");
    layers([this] { buffers(); });
    prepare();
    forward();
  }

  void layers(const std::function<void()>& before = [] {}) {
    line(1, "def __init__(self):");
    line(2, "super().__init__()");
    before();
    declaration declare(m_);
    for (const auto& s : m_.steps)
      if (const auto text = declare.of(s); !text.empty())
        line(2, fmt::format("self.{} = {}  # {} -> {}", s.name, text, to_text(s.in),
                            to_text(s.out)));
    line(0, "");
  }

  void buffers() {
    const auto columns = std::to_string(how_.inputs());
    const auto buffer = [&](const std::string& name, const std::string& value) {
      line(2, fmt::format("self.register_buffer(\"{}\", {})", name, value));
    };
    if (!fills_of(how_).empty())
      buffer("input_blank",
             fmt::format("torch.zeros({}{}", columns,
                         takes_doubles(how_) ? ", dtype=torch.float64)" : ")"));
    if (!how_.mean.empty()) {
      buffer("input_mean", fmt::format("torch.zeros({}, dtype=torch.float64)", columns));
      buffer("input_deviation",
             fmt::format("torch.ones({}, dtype=torch.float64)", columns));
    }
    if (!how_.limit.empty())
      buffer("input_limit", fmt::format("torch.full(({},), torch.inf)", columns));
    if (how_.largest > 0)
      buffer("input_largest", "torch.ones(())");
  }

  void prepare() {
    line(1, "def prepare(self, x):");
    line(2, "\"\"\"Scales raw examples as the training data was scaled.\"\"\"");
    if (takes_texts(how_))
      line(2, fmt::format("x = x.reshape(-1, {})", how_.inputs()));
    else
      numbers();
    if (!fills_of(how_).empty())
      line(2, "x = torch.where(x.isnan(), self.input_blank, x)");
    if (!how_.mean.empty())
      line(2, "x = ((x.double() - self.input_mean) / self.input_deviation).float()");
    if (!how_.limit.empty())
      line(2, "x = x.clamp(-self.input_limit, self.input_limit)");
    if (how_.largest > 0)
      line(2, "x = x / self.input_largest");
    line(2, fmt::format("return x.reshape(-1, {})", tuple_of(how_.shape)));
    line(0, "");
  }

  void numbers() {
    if (how_.layout == array_layout::channels_last)
      line(2, fmt::format("x = x.reshape(-1, {}).permute(0, 3, 1, 2)",
                          tuple_of(in_file(how_.shape, how_.layout))));
    line(2, fmt::format("x = x.reshape(-1, {})", how_.width));
    const auto order = input_order(how_);
    if (order.empty())
      return;
    line(2, "# Each column, and 1 where it is blank.");
    line(2, fmt::format("x = torch.cat([x, x.isnan().to(x.dtype)], 1)[:, [{}]]",
                        joined(order)));
  }

  void forward() {
    line(1, "def forward(self, x):");
    std::vector<std::string> values;
    expression express;
    for (std::size_t i = 0; i < m_.steps.size(); ++i) {
      const auto& s = m_.steps[i];
      std::vector<std::string> inputs;
      for (const auto in : s.inputs)
        inputs.push_back(values[in]);
      values.push_back(express.of(s, std::move(inputs)));
      if (i + 1 == m_.steps.size())
        line(2, fmt::format("return {}  # {}", values[i], to_text(s.out)));
      else if (m_.steps[i + 1].layer != s.layer && i > 0) {
        line(2, fmt::format("{} = {}  # {}", s.word, values[i], to_text(s.out)));
        values[i] = s.word;
      }
    }
    line(0, "");
  }

  void predict() {
    line(0, "");
    line(0, "def predict(rows, network=None):");
    line(1, fmt::format("\"\"\"{}\"\"\"", decoder_.docstring));
    lines(1, "network = network or load()\n"
             "with torch.no_grad():\n"
             "    outputs = network(network.prepare(encode(rows)))");
    line(1, "return " + std::string(decoder_.returned));
  }

  const exported_model& m_;
  const preprocessing& how_;
  const output_decoder& decoder_ = decoder_of(how_.task);
  std::string text_;
};

} // namespace

std::string python_literal(std::string_view text) {
  return json(text).dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string python_literal(const std::vector<std::string>& texts) {
  return fmt::format(
      "[{}]", joined(texts, ", ", [](const auto& t) { return python_literal(t); }));
}

std::string python_source(const exported_model& m) {
  return source(m).write();
}

std::string untrained_source(const exported_model& m) {
  return source(m).write_untrained();
}

} // namespace clade
