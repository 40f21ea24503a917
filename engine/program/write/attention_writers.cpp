// Attention over the steps of sequences [N, steps, features]: products and a softmax in every
// format, as the kernels have them.
#include "engine/program/lower/windows.hpp"
#include "engine/program/write/writer.hpp"
#include "genome/base/text.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <vector>

namespace clade {
namespace {

using sizes = onnx_lines::sizes;

struct attention_form {
  explicit attention_form(const written_step& s)
      : steps(s.step.in.sizes[0]),
        inputs(s.step.in.units()),
        units(s.step.out.units()),
        heads(integer_setting(s.step.settings, "heads")),
        before(text_setting(s.step.settings, "sees") == "before") {}

  [[nodiscard]] double root() const {
    return std::sqrt(static_cast<double>(units / heads));
  }

  std::int64_t steps, inputs, units, heads;
  bool before;
};

/// Rows [part * units, (part + 1) * units) of the map, as [N, heads, ...]: of the keys with
/// their units in front of the steps.
std::string mapped(onnx_lines& s, const attention_form& f, const std::string& name,
                   std::int64_t part, const sizes& order) {
  const auto& weight = s.tensor("weight").values;
  std::vector<float> turned;
  for (std::int64_t i = 0; i < f.inputs; ++i)
    for (std::int64_t u = 0; u < f.units; ++u)
      turned.push_back(
          weight[static_cast<std::size_t>((part * f.units + u) * f.inputs + i)]);
  const auto from = s.tensor("bias").values.begin() + part * f.units;
  s.add("MatMul", {s.x(), s.numbers(name + "_weight", {f.inputs, f.units}, turned)},
        name + "_mapped");
  s.add("Add",
        {s.part(name + "_mapped"),
         s.numbers(name + "_bias", {f.units}, std::vector<float>(from, from + f.units))},
        name + "_shifted");
  s.add("Reshape",
        {s.part(name + "_shifted"),
         s.shape(name + "_sizes", {-1, f.steps, f.heads, f.units / f.heads})},
        name + "_by_head");
  s.add("Transpose", {s.part(name + "_by_head")}, name).list("perm", order);
  return s.part(name);
}

std::string attention_onnx(onnx_lines& s) {
  const attention_form f(s);
  const auto queries = mapped(s, f, "queries", 0, {0, 2, 1, 3});
  const auto keys = mapped(s, f, "keys", 1, {0, 2, 3, 1});
  const auto values = mapped(s, f, "values", 2, {0, 2, 1, 3});
  s.add("MatMul", {queries, keys}, "products");
  s.add("Div", {s.part("products"), s.number("root", f.root())}, "scaled");
  if (f.before)
    s.add(
        "Add",
        {s.part("scaled"), s.numbers("later", {f.steps, f.steps}, later_steps(f.steps))},
        "seen");
  s.add("Softmax", {s.part(f.before ? "seen" : "scaled")}, "heed").whole("axis", 3);
  s.add("MatMul", {s.part("heed"), values}, "answers");
  s.add("Transpose", {s.part("answers")}, "by_step").list("perm", sizes{0, 2, 1, 3});
  s.last("Reshape",
         {s.part("by_step"), s.shape("sizes", onnx_graph::of_examples(s.step.out))});
  return s.step.name;
}

std::vector<script_constant> later_constant(const written_step& s) {
  const attention_form f(s);
  if (!f.before)
    return {};
  return {{s.step.name + "_later", {f.steps, f.steps}, later_steps(f.steps)}};
}

// One value is used three times, so that it is computed in a method of its own.
std::string attention_method(const written_step& s) {
  const attention_form f(s);
  const auto later = f.before ? fmt::format(" + self.{}_later", s.step.name) : "";
  return fmt::format(
      "def {0}_answers(self, x):\n    # type: (Tensor) -> Tensor\n"
      "    mapped = torch.permute(torch.reshape(torch.linear(x, {1}, {2}), [-1, {3}, 3, "
      "{4}, {5}]), [2, 0, 3, 1, 4])\n"
      "    products = torch.div(torch.matmul(mapped[0], torch.transpose(mapped[1], 2, "
      "3)), {6}){7}\n"
      "    answers = torch.matmul(torch.softmax(products, 3), mapped[2])\n"
      "    return torch.reshape(torch.transpose(answers, 1, 2), [-1, {3}, {8}])\n\n",
      s.step.name, script_tensor(s, "weight"), script_tensor(s, "bias"), f.steps, f.heads,
      f.units / f.heads, literal(f.root()), later, f.units);
}

std::string attention_script(const written_step& s) {
  return fmt::format("self.{}_answers({})", s.step.name, s.x());
}

std::string attention_module(const written_step& s) {
  const attention_form f(s);
  return fmt::format("Attention({}, {}, {}{})", f.inputs, f.units, f.heads,
                     f.before ? ", before=True" : "");
}

constexpr std::string_view attention_class = R"(
class Attention(nn.Module):
    """Of a sequence to itself, by several heads. `before`: a step sees none that comes later."""

    def __init__(self, features, units, heads, before=False):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(3 * units, features))
        self.bias = nn.Parameter(torch.zeros(3 * units))
        self.heads = heads
        self.before = before

    def forward(self, x):
        n, steps, _ = x.shape
        mapped = F.linear(x, self.weight, self.bias)
        queries, keys, values = mapped.view(n, steps, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        products = queries @ keys.mT / queries.shape[-1] ** 0.5
        if self.before:
            later = torch.ones(steps, steps, dtype=torch.bool, device=x.device).triu(1)
            products = products.masked_fill(later, -torch.inf)
        return (products.softmax(-1) @ values).transpose(1, 2).flatten(2)

)";

std::string positions_onnx(onnx_lines& s) {
  s.last("Add", {s.x(), s.weight("places", s.step.in.sizes)});
  return s.step.name;
}

std::string positions_script(const written_step& s) {
  return fmt::format("{} + torch.reshape({}, [{}])", s.x(), script_tensor(s, "places"),
                     joined(s.step.in.sizes));
}

std::string positions_module(const written_step& s) {
  return fmt::format("Positions({})", joined(s.step.in.sizes));
}

constexpr std::string_view positions_class = R"(
class Positions(nn.Module):
    """Adds a weight to each step of each feature."""

    def __init__(self, steps, features):
        super().__init__()
        self.places = nn.Parameter(torch.zeros(steps * features))

    def forward(self, x):
        return x + self.places.view(x.shape[1:])

)";

std::string patches_onnx(onnx_lines& s) {
  const auto f = patches_of(s.step);
  s.add("Conv", {s.x(), s.weight("weight"), s.weight("bias")}, "squares")
      .list("kernel_shape", {f.size, f.size})
      .list("strides", {f.size, f.size})
      .list("pads", {0, 0, f.below, f.right});
  const auto& out = s.step.out;
  s.add("Reshape", {s.part("squares"), s.shape("sizes", {-1, out.units(), out.sizes[0]})},
        "in_a_row");
  return s.last_swapped("in_a_row");
}

std::string patches_script(const written_step& s) {
  const auto f = patches_of(s.step);
  auto x = s.x();
  if (f.padded())
    x = fmt::format("torch.constant_pad_nd({}, [0, {}, 0, {}], 0)", x, f.right, f.below);
  return fmt::format("torch.transpose(torch.flatten(torch.conv2d({}, {}, {}, [{}, {}], "
                     "[0, 0], [1, 1], 1), 2), 1, 2)",
                     x, script_tensor(s, "weight"), script_tensor(s, "bias"), f.size,
                     f.size);
}

std::string patches_python(const written_step& s) {
  const auto f = patches_of(s.step);
  const auto x = f.padded()
                     ? fmt::format("F.pad({}, (0, {}, 0, {}))", s.x(), f.right, f.below)
                     : s.x();
  return fmt::format("self.{}({}).flatten(2).mT", s.step.name, x);
}

std::string patches_module(const written_step& s) {
  const auto& shape = s.tensor("weight").shape;
  return fmt::format("nn.Conv2d({}, {}, {}, stride={})", shape[1], shape[0], shape[2],
                     shape[2]);
}

constexpr std::array rows{
    writer{.computes = "attention",
           .onnx = attention_onnx,
           .script = attention_script,
           .script_constants = later_constant,
           .script_method = attention_method,
           .python_module = attention_module,
           .python_class = attention_class},
    writer{.computes = "positions",
           .onnx = positions_onnx,
           .script = positions_script,
           .python_module = positions_module,
           .python_class = positions_class},
    writer{.computes = "patches",
           .onnx = patches_onnx,
           .script = patches_script,
           .python = patches_python,
           .python_module = patches_module},
};

} // namespace

std::span<const writer> attention_writers() {
  return rows;
}

} // namespace clade
