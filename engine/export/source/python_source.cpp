// Steps of one block stand in one expression, so that forward() has a line for each layer
// of the network, in its order. A step that has parameters, or differs between training
// and use, is a module of its own; the rest is a function.

#include "engine/export/source/python_source.hpp"

#include "engine/export/source/output_decoder.hpp"
#include "engine/export/source/python_rows.hpp"
#include "engine/export/source/row_source.hpp"
#include "engine/export/source/text_source.hpp"
#include "genome/base/text.hpp"
#include "genome/base/utf8.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <functional>
#include <set>

namespace clade {
namespace {

using json = nlohmann::json;

constexpr std::string_view load_functions = R"(
def read_safetensors(file):
    """The tensors of a file by name; the package safetensors does the same."""
    data = pathlib.Path(file).read_bytes()
    start = 8 + struct.unpack("<Q", data[:8])[0]
    types = {"F32": torch.float32, "F64": torch.float64}
    tensors = {}
    for name, entry in json.loads(data[8:start]).items():
        if name != "__metadata__":
            first, end = entry["data_offsets"]
            values = torch.frombuffer(bytearray(data[start + first:start + end]), dtype=types[entry["dtype"]])
            tensors[name] = values.reshape(entry["shape"])
    return tensors


)";

constexpr std::string_view load_trained = R"(
def load(weights=WEIGHTS):
    """The trained network, ready to predict."""
    network = Network()
    network.load_state_dict(read_safetensors(weights))
    return network.eval()

)";

constexpr std::string_view load_untrained = R"(
def load(weights=WEIGHTS):
    """The network with the initial weights of its candidate's seed."""
    network = Network()
    network.load_state_dict(read_safetensors(weights))
    return network
)";

std::string number(std::int64_t n) {
  return std::to_string(n);
}

std::string tuple_of(const tensor_shape& shape) {
  return joined(shape.sizes);
}

class source {
public:
  explicit source(const exported_model& m) : m_(m), how_(m.how) {}

  std::string write() {
    head();
    constants();
    classes();
    if (takes_texts(how_))
      text_ += rows_class(how_);
    network();
    text_.append(load_functions).append(load_trained);
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
    classes();
    line(0, "");
    line(0, "class Network(nn.Module):");
    line(0, "");
    layers();
    forward();
    text_.append(load_functions).append(load_untrained);
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

  // The modules that PyTorch does not have, those that the steps need.
  void classes() {
    std::set<std::string_view> computed;
    for (const auto& s : m_.steps) {
      computed.insert(s.computes);
      if (s.body)
        for (const auto& within : s.body->steps)
          computed.insert(within.computes);
    }
    for (const auto& w : writers())
      if (computed.contains(w.computes))
        text_ += w.python_class;
    for (const auto& s : m_.steps)
      if (const auto own = writer_of(s).python_class_of)
        text_ += own(written(m_, s));
  }

  void imports(bool of_table = false) {
    lines(0,
          fmt::format(
              "{}{}import json\nimport math\nimport pathlib\nimport struct\n{}\nimport "
              "torch\nfrom torch import nn\nfrom torch.nn import functional as F\n",
              of_table && has_text_scores(how_) ? "import array\n" : "",
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
    for (const auto& s : m_.steps)
      if (const auto module = writer_of(s).python_module)
        line(2, fmt::format("self.{} = {}  # {} -> {}", s.name, module(written(m_, s)),
                            to_text(s.in), to_text(s.out)));
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
    for (std::size_t i = 0; i < m_.steps.size(); ++i) {
      const auto& s = m_.steps[i];
      const auto lines = written(m_, s, values, "x");
      const auto write = writer_of(s).python;
      values.push_back(write != nullptr
                           ? write(lines)
                           : fmt::format("self.{}({})", s.name, joined(lines.in)));
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
  const output_decoder& decoder_ = decoder_of(how_);
  std::string text_;
};

} // namespace

std::string python_literal(std::string_view text) {
  // Characters that turn the direction of writing would hide what the source says.
  return json(text).dump(-1, ' ', !is_plain_text(text), json::error_handler_t::replace);
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
