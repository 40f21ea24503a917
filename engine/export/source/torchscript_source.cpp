// One statement for each step, on variables x0, x1, ...; parameters are attributes of the
// module itself.

#include "engine/export/source/torchscript_source.hpp"

#include "engine/export/source/output_decoder.hpp"
#include "engine/export/source/python_source.hpp"
#include "engine/export/source/row_source.hpp"
#include "genome/base/text.hpp"
#include "search_spaces/operators/operators.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numbers>

namespace clade {
namespace {

std::string pair_of(std::int64_t a, std::int64_t b) {
  return fmt::format("[{}, {}]", a, b);
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

  static std::string value(std::size_t step) { return fmt::format("x{}", step); }

  std::string operator()(const input_step&) const { return "self.prepare(rows)"; }
  std::string operator()(const convolution_step& o) const {
    return fmt::format("torch.conv2d({}, {}, {}, {}, {}, {}, {})", x_, tensor(o.weight),
                       optional(o.bias), pair_of(o.stride), pair_of(o.padding),
                       pair_of(o.dilation), o.groups);
  }
  std::string operator()(const linear_step& o) const {
    return fmt::format("torch.linear({}, {}, {})", x_, tensor(o.weight),
                       optional(o.bias));
  }
  std::string operator()(const batch_norm_step& o) const {
    return fmt::format("torch.batch_norm({}, {}, {}, {}, {}, False, 0.1, {}, True)", x_,
                       tensor(o.weight), tensor(o.bias), tensor(o.mean),
                       tensor(o.variance), literal(norm_epsilon));
  }
  std::string operator()(const layer_norm_step& o) const {
    return fmt::format("torch.group_norm({}, 1, {}, {}, {}, True)", x_, tensor(o.weight),
                       tensor(o.bias), literal(norm_epsilon));
  }
  std::string operator()(const channel_norm_step& o) const {
    return fmt::format("torch.permute(torch.layer_norm(torch.permute({}, [0, 2, 3, 1]), "
                       "[{}], {}, {}, {}, True), [0, 3, 1, 2])",
                       x_, step_->out.sizes.front(), tensor(o.weight), tensor(o.bias),
                       literal(norm_epsilon));
  }
  std::string operator()(const activation_step& o) const {
    return fmt::format("torch.{}({}{}", o.function, x_,
                       o.function == "leaky_relu" ? ", 0.01)" : ")");
  }
  std::string operator()(const max_pool_step& o) const {
    const bool own = o.kernel % 2 == 1;
    auto x = x_;
    if (!own && o.top + o.left + o.bottom + o.right > 0)
      x = fmt::format("torch.constant_pad_nd({}, [{}, {}, {}, {}], float(\"-inf\"))", x,
                      o.left, o.right, o.top, o.bottom);
    return fmt::format("torch.max_pool2d({}, {}, {}, {})", x, pair_of(o.kernel),
                       pair_of(o.stride), pair_of(own ? o.top : 0));
  }
  std::string operator()(const avg_pool_step& o) const {
    return fmt::format("torch.avg_pool2d({}, {}, {}, {}, False, False)", x_,
                       pair_of(o.kernel), pair_of(o.stride), pair_of(o.padding));
  }
  std::string operator()(const average_step&) const {
    return fmt::format("torch.matmul(torch.matmul(self.{}_rows, {}), self.{}_columns)",
                       step_->name, x_, step_->name);
  }
  std::string operator()(const global_avg_step&) const {
    return fmt::format("torch.mean({}, [2, 3])", x_);
  }
  std::string operator()(const global_max_step&) const {
    return fmt::format("torch.amax({}, [2, 3])", x_);
  }
  std::string operator()(const dropout_step&) const { return x_; }
  std::string operator()(const mixture_step& o) const {
    std::string sum;
    for (std::size_t i = 0; i < step_->inputs.size(); ++i) {
      const auto x = value(step_->inputs[i]);
      sum += fmt::format("{}{}[{}] * {}", i == 0 ? "" : " + ", tensor(o.shares), i,
                         o.of_probabilities ? fmt::format("torch.softmax({}, 1)", x) : x);
    }
    if (!o.of_probabilities)
      return sum;
    const auto scores =
        fmt::format("torch.log(torch.clamp({}, 1e-12)) / {}", sum, tensor(o.temperature));
    if (!o.least)
      return scores;
    const auto least = tensor(*o.least);
    return fmt::format("torch.log(torch.softmax({}, 1) * (1 - {} * {}) + {})", scores,
                       step_->out.sizes.front(), least, least);
  }
  std::string operator()(const add_step&) const { return inputs_with(" + "); }
  std::string operator()(const multiply_step&) const { return inputs_with(" * "); }
  std::string operator()(const concat_step&) const {
    return fmt::format("torch.cat([{}], 1)", inputs_with(", "));
  }
  std::string operator()(const select_step&) const {
    return fmt::format("torch.index_select({}, 1, self.{}_columns)", x_, step_->name);
  }
  std::string operator()(const piecewise_step& o) const {
    const auto edges = tensor(o.edges);
    return fmt::format("torch.flatten(torch.clamp((torch.unsqueeze({}, 2) - {}[:, :-1]) "
                       "/ torch.clamp({}[:, 1:] - {}[:, :-1], {}), 0.0, 1.0), 1)",
                       x_, edges, edges, edges, literal(narrowest_bin));
  }
  std::string operator()(const periodic_step& o) const {
    const auto turns = fmt::format("torch.unsqueeze({}, 2) * {} * {}", x_,
                                   tensor(o.frequencies), literal(2 * std::numbers::pi));
    return fmt::format("torch.flatten(torch.cat([torch.cos({}), torch.sin({})], 2), 1)",
                       turns, turns);
  }
  std::string operator()(const map_each_step& o) const {
    const auto& shape = m_.weights[o.weight].shape;
    return fmt::format("torch.flatten(torch.transpose(torch.bmm(torch.transpose(torch."
                       "reshape({}, [-1, {}, {}]), 0, 1), {}), 0, 1) + {}, 1)",
                       x_, shape[0], shape[1], tensor(o.weight), tensor(o.bias));
  }
  std::string operator()(const boosted_trees_step&) const {
    return fmt::format("self.{}_sums({})", step_->name, x_);
  }
  std::string operator()(const flatten_step&) const {
    return fmt::format("torch.flatten({}, 1)", x_);
  }
  std::string operator()(const as_image_step&) const {
    return fmt::format("torch.unsqueeze(torch.unsqueeze({}, 2), 3)", x_);
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
  std::string text = fmt::format(
      "def {}_sums(self, x):\n    # type: (Tensor) -> Tensor\n    sums = []\n", s.name);
  const auto line = [&](const std::string& l) { text += fmt::format("        {}\n", l); };
  text += fmt::format("    for rows in torch.split(x, {}):\n",
                      std::max<std::int64_t>(1, (1 << 20) / shape[0]));
  line(fmt::format("tree = torch.arange({}, device=x.device)", shape[0]));
  line("node = torch.unsqueeze(torch.zeros_like(tree), 0).repeat([rows.size(0), 1])");
  for (auto level = shape[1]; level > 1; level /= 2) {
    line("place = node + tree * " + inner);
    line(fmt::format("right = torch.gather(rows, 1, torch.take({}, place).to(4)) >= "
                     "torch.take({}, place)",
                     attribute(o.features), attribute(o.thresholds)));
    line("node = 2 * node + 1 + right.to(4)");
  }
  line(fmt::format("said = torch.take({}, node - {} + tree * {})", attribute(o.leaves),
                   inner, shape[1]));
  line(fmt::format(
      "sums.append(torch.sum(torch.reshape(said, [rows.size(0), -1, {}]), [1]))",
      s.out.sizes.front()));
  return text + "    return torch.cat(sums)\n\n";
}

std::string shape_of(const tensor_shape& shape) {
  std::string text = "[-1";
  for (const auto size : shape.sizes)
    text += fmt::format(", {}", size);
  return text + "]";
}

// TorchScript's numbers for types.
constexpr const char* as_double = ".to(7)";
constexpr const char* as_float = ".to(6)";

std::string prepare(const preprocessing& how) {
  std::string text = "def prepare(self, rows):\n    # type: (Tensor) -> Tensor\n";
  const auto line = [&](const std::string& s) { text += fmt::format("    {}\n", s); };
  const auto width = takes_texts(how) ? how.inputs() : how.width;
  const std::string type = takes_doubles(how) ? as_double : as_float;
  line(fmt::format("x = torch.reshape(rows{}, [-1, {}])", type, width));
  if (how.layout == array_layout::channels_last)
    line(fmt::format("x = torch.permute(torch.reshape(x, {}), [0, 3, 1, 2])",
                     shape_of(in_file(how.shape, how.layout))));
  if (!takes_texts(how) && !input_order(how).empty())
    line(fmt::format("x = torch.index_select(torch.cat([x, torch.isnan(x){}], 1), 1, "
                     "self.input_order)",
                     type));
  if (!fills_of(how).empty())
    line("x = torch.where(torch.isnan(x), self.input_blank, x)");
  if (!how.mean.empty())
    line("x = ((x - self.input_mean) / self.input_deviation)" + std::string(as_float));
  if (!how.limit.empty())
    line("x = torch.minimum(torch.maximum(x, -self.input_limit), self.input_limit)");
  if (how.largest > 0)
    line("x = x / self.input_largest");
  line(fmt::format("return torch.reshape(x, {})", shape_of(how.shape)));
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
    text += fmt::format("    {} = {}\n", expression::value(i), express.of(i));
  const auto last = expression::value(m.steps.size() - 1);
  return fmt::format("{}    return {}\n", text,
                     decoder_of(how.task).torchscript(last, how));
}

} // namespace clade
