// One statement for each step, on variables x0, x1, ...; parameters are attributes of the
// module itself.

#include "engine/export/source/torchscript_source.hpp"

#include "engine/export/source/output_decoder.hpp"
#include "engine/export/source/python_source.hpp"
#include "engine/export/source/row_source.hpp"
#include "genome/base/text.hpp"
#include "search_spaces/operators/operators.hpp"

#include <algorithm>
#include <numbers>

namespace clade {
namespace {

std::string pair_of(std::int64_t a, std::int64_t b) {
  return "[" + std::to_string(a) + ", " + std::to_string(b) + "]";
}
std::string pair_of(std::int64_t a) {
  return pair_of(a, a);
}

class expression {
public:
  explicit expression(const exported_model& m) : m_(m) {}

  std::string of(std::size_t index) {
    step_ = &m_.steps[index];
    x_ = step_->inputs.empty() ? "" : value(step_->inputs.front());
    return std::visit([this](const auto& o) { return (*this)(o); }, step_->computes);
  }

  static std::string value(std::size_t step) { return "x" + std::to_string(step); }

  std::string operator()(const input_step&) const { return "self.prepare(rows)"; }
  std::string operator()(const convolution_step& o) const {
    return "torch.conv2d(" + x_ + ", " + tensor(o.weight) + ", " + optional(o.bias) + ", "
           + pair_of(o.stride) + ", " + pair_of(o.padding) + ", " + pair_of(o.dilation)
           + ", " + std::to_string(o.groups) + ")";
  }
  std::string operator()(const linear_step& o) const {
    return "torch.linear(" + x_ + ", " + tensor(o.weight) + ", " + optional(o.bias) + ")";
  }
  std::string operator()(const batch_norm_step& o) const {
    return "torch.batch_norm(" + x_ + ", " + tensor(o.weight) + ", " + tensor(o.bias)
           + ", " + tensor(o.mean) + ", " + tensor(o.variance) + ", False, 0.1, "
           + literal(norm_epsilon) + ", True)";
  }
  std::string operator()(const layer_norm_step& o) const {
    return "torch.group_norm(" + x_ + ", 1, " + tensor(o.weight) + ", " + tensor(o.bias)
           + ", " + literal(norm_epsilon) + ", True)";
  }
  std::string operator()(const channel_norm_step& o) const {
    return "torch.permute(torch.layer_norm(torch.permute(" + x_ + ", [0, 2, 3, 1]), ["
           + std::to_string(step_->out.sizes.front()) + "], " + tensor(o.weight) + ", "
           + tensor(o.bias) + ", " + literal(norm_epsilon) + ", True), [0, 3, 1, 2])";
  }
  std::string operator()(const activation_step& o) const {
    return "torch." + o.function + "(" + x_
           + (o.function == "leaky_relu" ? ", 0.01)" : ")");
  }
  std::string operator()(const max_pool_step& o) const {
    const bool own = o.kernel % 2 == 1;
    auto x = x_;
    if (!own && o.top + o.left + o.bottom + o.right > 0)
      x = "torch.constant_pad_nd(" + x + ", [" + std::to_string(o.left) + ", "
          + std::to_string(o.right) + ", " + std::to_string(o.top) + ", "
          + std::to_string(o.bottom) + "], float(\"-inf\"))";
    return "torch.max_pool2d(" + x + ", " + pair_of(o.kernel) + ", " + pair_of(o.stride)
           + ", " + pair_of(own ? o.top : 0) + ")";
  }
  std::string operator()(const avg_pool_step& o) const {
    return "torch.avg_pool2d(" + x_ + ", " + pair_of(o.kernel) + ", " + pair_of(o.stride)
           + ", " + pair_of(o.padding) + ", False, False)";
  }
  std::string operator()(const average_step&) const {
    return "torch.matmul(torch.matmul(self." + step_->name + "_rows, " + x_ + "), self."
           + step_->name + "_columns)";
  }
  std::string operator()(const global_avg_step&) const {
    return "torch.mean(" + x_ + ", [2, 3])";
  }
  std::string operator()(const global_max_step&) const {
    return "torch.amax(" + x_ + ", [2, 3])";
  }
  std::string operator()(const dropout_step&) const { return x_; }
  std::string operator()(const mixture_step& o) const {
    std::string sum;
    for (std::size_t i = 0; i < step_->inputs.size(); ++i) {
      const auto x = value(step_->inputs[i]);
      sum += (i == 0 ? "" : " + ") + tensor(o.shares) + "[" + std::to_string(i) + "] * "
             + (o.of_probabilities ? "torch.softmax(" + x + ", 1)" : x);
    }
    if (!o.of_probabilities)
      return sum;
    const auto scores =
        "torch.log(torch.clamp(" + sum + ", 1e-12)) / " + tensor(o.temperature);
    if (!o.least)
      return scores;
    const auto least = tensor(*o.least);
    return "torch.log(torch.softmax(" + scores + ", 1) * (1 - "
           + std::to_string(step_->out.sizes.front()) + " * " + least + ") + " + least
           + ")";
  }
  std::string operator()(const add_step&) const { return inputs_with(" + "); }
  std::string operator()(const multiply_step&) const { return inputs_with(" * "); }
  std::string operator()(const concat_step&) const {
    return "torch.cat([" + inputs_with(", ") + "], 1)";
  }
  std::string operator()(const select_step&) const {
    return "torch.index_select(" + x_ + ", 1, self." + step_->name + "_columns)";
  }
  std::string operator()(const piecewise_step& o) const {
    const auto edges = tensor(o.edges);
    return "torch.flatten(torch.clamp((torch.unsqueeze(" + x_ + ", 2) - " + edges
           + "[:, :-1]) / torch.clamp(" + edges + "[:, 1:] - " + edges + "[:, :-1], "
           + literal(narrowest_bin) + "), 0.0, 1.0), 1)";
  }
  std::string operator()(const periodic_step& o) const {
    const auto turns = "torch.unsqueeze(" + x_ + ", 2) * " + tensor(o.frequencies) + " * "
                       + literal(2 * std::numbers::pi);
    return "torch.flatten(torch.cat([torch.cos(" + turns + "), torch.sin(" + turns
           + ")], 2), 1)";
  }
  std::string operator()(const map_each_step& o) const {
    const auto& shape = m_.weights[o.weight].shape;
    return "torch.flatten(torch.transpose(torch.bmm(torch.transpose(torch.reshape(" + x_
           + ", [-1, " + std::to_string(shape[0]) + ", " + std::to_string(shape[1])
           + "]), 0, 1), " + tensor(o.weight) + "), 0, 1) + " + tensor(o.bias) + ", 1)";
  }
  std::string operator()(const boosted_trees_step&) const {
    return "self." + step_->name + "_sums(" + x_ + ")";
  }
  std::string operator()(const flatten_step&) const {
    return "torch.flatten(" + x_ + ", 1)";
  }
  std::string operator()(const as_image_step&) const {
    return "torch.unsqueeze(torch.unsqueeze(" + x_ + ", 2), 3)";
  }

private:
  [[nodiscard]] std::string inputs_with(const char* between) const {
    return joined(step_->inputs, between, [&](const auto i) { return value(i); });
  }
  [[nodiscard]] std::string tensor(tensor_index i) const {
    return "self." + attribute_name(m_.weights[i].name);
  }
  [[nodiscard]] std::string optional(const std::optional<tensor_index>& i) const {
    return i ? tensor(*i) : "None";
  }

  const exported_model& m_;
  const export_step* step_ = nullptr;
  std::string x_;
};

// A method of its own, since the trees of a large batch are computed in parts.
std::string sums_of_trees(const exported_model& m, const export_step& s,
                          const boosted_trees_step& o) {
  const auto attribute = [&](tensor_index i) {
    return "self." + attribute_name(m.weights[i].name);
  };
  const auto& shape = m.weights[o.leaves].shape;
  const auto inner = std::to_string(shape[1] - 1);
  std::string text = "def " + s.name
                     + "_sums(self, x):\n    # type: (Tensor) -> Tensor\n    sums = []\n";
  const auto line = [&](const std::string& l) { text += "        " + l + "\n"; };
  text += "    for rows in torch.split(x, "
          + std::to_string(std::max<std::int64_t>(1, (1 << 20) / shape[0])) + "):\n";
  line("tree = torch.arange(" + std::to_string(shape[0]) + ", device=x.device)");
  line("node = torch.unsqueeze(torch.zeros_like(tree), 0).repeat([rows.size(0), 1])");
  for (auto level = shape[1]; level > 1; level /= 2) {
    line("place = node + tree * " + inner);
    line("right = torch.gather(rows, 1, torch.take(" + attribute(o.features)
         + ", place).to(4)) >= torch.take(" + attribute(o.thresholds) + ", place)");
    line("node = 2 * node + 1 + right.to(4)");
  }
  line("said = torch.take(" + attribute(o.leaves) + ", node - " + inner + " + tree * "
       + std::to_string(shape[1]) + ")");
  line("sums.append(torch.sum(torch.reshape(said, [rows.size(0), -1, "
       + std::to_string(s.out.sizes.front()) + "]), [1]))");
  return text + "    return torch.cat(sums)\n\n";
}

std::string shape_of(const tensor_shape& shape) {
  std::string text = "[-1";
  for (const auto size : shape.sizes)
    text += ", " + std::to_string(size);
  return text + "]";
}

// TorchScript's numbers for types.
constexpr const char* as_double = ".to(7)";
constexpr const char* as_float = ".to(6)";

std::string prepare(const preprocessing& how) {
  std::string text = "def prepare(self, rows):\n    # type: (Tensor) -> Tensor\n";
  const auto line = [&](const std::string& s) { text += "    " + s + "\n"; };
  const auto width = takes_texts(how) ? how.inputs() : how.width;
  const std::string type = takes_doubles(how) ? as_double : as_float;
  line("x = torch.reshape(rows" + type + ", [-1, " + std::to_string(width) + "])");
  if (how.layout == array_layout::channels_last)
    line("x = torch.permute(torch.reshape(x, " + shape_of(in_file(how.shape, how.layout))
         + "), [0, 3, 1, 2])");
  if (!takes_texts(how) && !input_order(how).empty())
    line("x = torch.index_select(torch.cat([x, torch.isnan(x)" + type
         + "], 1), 1, self.input_order)");
  if (!fills_of(how).empty())
    line("x = torch.where(torch.isnan(x), self.input_blank, x)");
  if (!how.mean.empty())
    line("x = ((x - self.input_mean) / self.input_deviation)" + std::string(as_float));
  if (!how.limit.empty())
    line("x = torch.minimum(torch.maximum(x, -self.input_limit), self.input_limit)");
  if (how.largest > 0)
    line("x = x / self.input_largest");
  line("return torch.reshape(x, " + shape_of(how.shape) + ")");
  return text + "\n";
}

} // namespace

std::string attribute_name(std::string name) {
  std::ranges::replace(name, '.', '_');
  return name;
}

std::string torchscript_source(const exported_model& m) {
  const auto& how = m.how;
  std::string text = prepare(how);
  for (const auto& s : m.steps)
    if (const auto* trees = std::get_if<boosted_trees_step>(&s.computes))
      text += sums_of_trees(m, s, *trees);
  if (takes_texts(how)) {
    text += row_methods(how, {.sine = "torch.sin",
                              .cosine = "torch.cos",
                              .remainder = "torch.fmod",
                              .doubles = "7"}); // TorchScript's number for the type.
    text += "def forward(self, texts):\n    # type: (List[List[str]]) -> Tensor\n"
            "    rows = self.encode(texts)\n";
  } else {
    text += "def forward(self, rows):\n    # type: (Tensor) -> Tensor\n";
  }
  expression express(m);
  for (std::size_t i = 0; i < m.steps.size(); ++i)
    text += "    " + expression::value(i) + " = " + express.of(i) + "\n";
  const auto last = expression::value(m.steps.size() - 1);
  return text + "    return " + decoder_of(how.task).torchscript(last, how) + "\n";
}

} // namespace clade
