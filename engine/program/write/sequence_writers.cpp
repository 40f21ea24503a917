// Computations on sequences [N, steps, features], whose features every format wants behind
// the batch. "average1d" is a product with a matrix of steps.
#include "engine/program/lower/windows.hpp"
#include "engine/program/write/writer.hpp"

#include <fmt/format.h>

#include <array>
#include <span>
#include <vector>

namespace clade {
namespace {

std::string by_feature(const written_step& s) {
  return fmt::format("torch.transpose({}, 1, 2)", s.x());
}

std::string called_by_feature(const written_step& s) {
  return fmt::format("self.{}({}.mT).mT", s.step.name, s.x());
}

std::string conv1d_onnx(onnx_lines& s) {
  const auto w = window_of(s.step);
  onnx_lines::names in{s.swapped(s.x(), "by_feature"), s.weight("weight")};
  if (s.has("bias"))
    in.push_back(s.weight("bias"));
  s.add("Conv", in, "convolved")
      .list("kernel_shape", onnx_lines::sizes{w.kernel})
      .list("strides", onnx_lines::sizes{w.stride})
      .list("pads", {w.padding, w.padding})
      .list("dilations", onnx_lines::sizes{w.dilation});
  return s.last_swapped("convolved");
}

std::string conv1d_script(const written_step& s) {
  const auto w = window_of(s.step);
  return fmt::format(
      "torch.transpose(torch.conv1d({}, {}, {}, [{}], [{}], [{}], 1), 1, 2)",
      by_feature(s), script_tensor(s, "weight"), script_tensor(s, "bias"), w.stride,
      w.padding, w.dilation);
}

std::string conv1d_module(const written_step& s) {
  const auto& shape = s.tensor("weight").shape;
  const auto w = window_of(s.step);
  auto text = fmt::format("nn.Conv1d({}, {}, {}", shape[1], shape[0], w.kernel);
  const auto option = [&](const char* name, std::int64_t v, std::int64_t usual) {
    if (v != usual)
      text += fmt::format(", {}={}", name, v);
  };
  option("stride", w.stride, 1);
  option("padding", w.padding, 0);
  option("dilation", w.dilation, 1);
  return text + (s.has("bias") ? ")" : ", bias=False)");
}

bool is_padded_first(const step_window& w) {
  return !w.odd() && w.before + w.after > 0;
}

std::string max_pool_onnx(onnx_lines& s) {
  const auto w = steps_of(s.step);
  s.add("MaxPool", {s.swapped(s.x(), "by_feature")}, "most")
      .list("kernel_shape", onnx_lines::sizes{w.kernel})
      .list("strides", onnx_lines::sizes{w.stride})
      .list("pads", {w.before, w.after});
  return s.last_swapped("most");
}

std::string max_pool_script(const written_step& s) {
  const auto w = steps_of(s.step);
  auto x = by_feature(s);
  if (is_padded_first(w))
    x = fmt::format("torch.constant_pad_nd({}, [{}, {}], float(\"-inf\"))", x, w.before,
                    w.after);
  return fmt::format("torch.transpose(torch.max_pool1d({}, [{}], [{}], [{}]), 1, 2)", x,
                     w.kernel, w.stride, w.odd() ? w.before : 0);
}

std::string max_pool_python(const written_step& s) {
  const auto w = steps_of(s.step);
  auto x = s.x() + ".mT";
  if (is_padded_first(w))
    x = fmt::format("F.pad({}, ({}, {}), value=-torch.inf)", x, w.before, w.after);
  return fmt::format("F.max_pool1d({}, {}, {}{}.mT", x, w.kernel, w.stride,
                     w.odd() ? fmt::format(", padding={})", w.before) : ")");
}

std::string avg_pool_onnx(onnx_lines& s) {
  const auto w = steps_of(s.step);
  s.add("AveragePool", {s.swapped(s.x(), "by_feature")}, "mean")
      .list("kernel_shape", onnx_lines::sizes{w.kernel})
      .list("strides", onnx_lines::sizes{w.stride})
      .list("pads", {w.before, w.after})
      .whole("count_include_pad", 0);
  return s.last_swapped("mean");
}

std::string avg_pool_script(const written_step& s) {
  const auto w = steps_of(s.step);
  return fmt::format(
      "torch.transpose(torch.avg_pool1d({}, [{}], [{}], [{}], False, False), 1, 2)",
      by_feature(s), w.kernel, w.stride, w.before);
}

std::string avg_pool_python(const written_step& s) {
  const auto w = steps_of(s.step);
  return fmt::format(
      "F.avg_pool1d({}.mT, {}, {}{}.mT", s.x(), w.kernel, w.stride,
      w.before == 0 ? ")"
                    : fmt::format(", padding={}, count_include_pad=False)", w.before));
}

std::vector<script_constant> matrix_of_steps(const written_step& s) {
  const auto spans = averaged_steps(s.step);
  const auto steps = s.step.in.sizes[0];
  return {{s.step.name + "_steps",
           {std::ssize(spans), steps},
           averaging_matrix(spans, steps)}};
}

std::string average_onnx(onnx_lines& s) {
  const auto all = matrix_of_steps(s);
  s.last("MatMul",
         {s.numbers("steps", all[0].shape, std::get<std::vector<float>>(all[0].values)),
          s.x()});
  return s.step.name;
}

std::string average_script(const written_step& s) {
  return fmt::format("torch.matmul(self.{}_steps, {})", s.step.name, s.x());
}

std::string average_module(const written_step& s) {
  std::string list;
  for (const auto& [from, to] : averaged_steps(s.step))
    list += fmt::format("{}{}, {})", list.empty() ? "(" : ", (", from, to);
  return fmt::format("AverageSteps([{}], {})", list, s.step.in.sizes[0]);
}

constexpr std::string_view average_class = R"(
class AverageSteps(nn.Module):
    """Step i of what comes out is the mean of the steps from spans[i][0] up to spans[i][1]."""

    def __init__(self, spans, steps):
        super().__init__()
        matrix = torch.zeros(len(spans), steps)
        for i, (start, end) in enumerate(spans):
            matrix[i, start:end] = 1 / (end - start)
        self.register_buffer("steps", matrix, persistent=False)

    def forward(self, x):
        return self.steps @ x

)";

// Recurrent layers. ONNX has the gates in another order, and the directions side by side.

struct recurrent_form {
  explicit recurrent_form(const written_step& s)
      : gates(s.step.computes == "gru" ? 3 : 4),
        directions(s.has("weight_ih_l0_reverse") ? 2 : 1),
        hidden(s.tensor("weight_hh_l0").shape[1]),
        last(text_setting(s.step.settings, "steps") == "last") {}

  std::int64_t gates, directions, hidden;
  bool last;
};

/// Appends a tensor with its gates in ONNX's order: update, reset, new for LibTorch's reset,
/// update, new; input, output, forget, cell for input, forget, cell, output.
void append_gates(std::vector<float>& to, const std::vector<float>& from,
                  const recurrent_form& form) {
  constexpr std::array<std::size_t, 3> of_gru{1, 0, 2};
  constexpr std::array<std::size_t, 4> of_lstm{0, 3, 1, 2};
  const auto order = form.gates == 3 ? std::span<const std::size_t>(of_gru) : of_lstm;
  const auto each = from.size() / order.size();
  for (const auto gate : order) {
    const auto values = std::span(from).subspan(gate * each, each);
    to.insert(to.end(), values.begin(), values.end());
  }
}

/// The tensors of these roles one behind the other, first of all those of one direction.
std::string side_by_side(onnx_lines& s, const recurrent_form& form,
                         const std::string& role, const std::vector<std::string>& roles,
                         onnx_lines::sizes each) {
  std::vector<float> values;
  for (const auto* direction : {"", "_reverse"})
    for (const auto& r : roles)
      if (s.has(r + direction))
        append_gates(values, s.tensor(r + direction).values, form);
  each.insert(each.begin(), form.directions);
  return s.numbers(role, each, values);
}

/// The state [N, hidden] of one direction behind its last step, of all states [steps,
/// directions, N, hidden].
std::string state_at(onnx_lines& s, std::int64_t step, std::int64_t direction,
                     const std::string& name) {
  const auto one = [&](const char* role, std::int64_t v) {
    return s.numbers(fmt::format("{}_{}", role, direction), {},
                     std::vector<std::int64_t>{v});
  };
  const auto at_step = s.part(fmt::format("at_step_{}", direction));
  s.graph.add("Gather", {s.part("states"), one("step", step)}, at_step).whole("axis", 0);
  s.graph.add("Gather", {at_step, one("direction", direction)}, name).whole("axis", 0);
  return name;
}

std::string recurrent_onnx(onnx_lines& s) {
  const recurrent_form form(s);
  const auto rows = form.gates * form.hidden, inputs = s.step.in.units();
  s.add("Transpose", {s.x()}, "by_step").list("perm", {1, 0, 2});
  const auto weights = side_by_side(s, form, "inputs", {"weight_ih_l0"}, {rows, inputs});
  const auto states =
      side_by_side(s, form, "hidden", {"weight_hh_l0"}, {rows, form.hidden});
  const auto biases =
      side_by_side(s, form, "biases", {"bias_ih_l0", "bias_hh_l0"}, {2 * rows});
  auto node = s.add(form.gates == 3 ? "GRU" : "LSTM",
                    {s.part("by_step"), weights, states, biases}, "states");
  node.whole("hidden_size", form.hidden);
  node.text("direction", form.directions == 2 ? "bidirectional" : "forward");
  if (form.gates == 3)
    node.whole("linear_before_reset", 1);
  const auto steps = s.step.in.sizes[0];
  if (form.last && form.directions == 1)
    return state_at(s, steps - 1, 0, s.step.name);
  if (form.last) {
    const auto forward = state_at(s, steps - 1, 0, s.part("forward"));
    s.last("Concat", {forward, state_at(s, 0, 1, s.part("backward"))}).whole("axis", 1);
    return s.step.name;
  }
  s.add("Transpose", {s.part("states")}, "by_example").list("perm", {2, 0, 1, 3});
  s.last("Reshape",
         {s.part("by_example"), s.shape("shape", onnx_graph::of_examples(s.step.out))});
  return s.step.name;
}

std::string recurrent_script(const written_step& s) {
  const recurrent_form form(s);
  const auto& x = s.x();
  std::string weights;
  for (const auto& t : s.step.tensors)
    weights += (weights.empty() ? "" : ", ") + script_tensor(s, t.role);
  const auto start = fmt::format("{}.new_zeros([{}, {}.size(0), {}])", x, form.directions,
                                 x, form.hidden);
  const auto said = fmt::format(
      "torch.{}({}, {}, [{}], True, 1, 0.0, False, {}, True)", s.step.computes, x,
      form.gates == 3 ? start : fmt::format("[{}, {}]", start, start), weights,
      form.directions == 2 ? "True" : "False");
  return form.last ? fmt::format("torch.flatten(torch.transpose({}[1], 0, 1), 1)", said)
                   : said + "[0]";
}

std::string recurrent_module(const written_step& s) {
  const recurrent_form form(s);
  return fmt::format("nn.{}({}, {}, batch_first=True{}", form.gates == 3 ? "GRU" : "LSTM",
                     s.step.in.units(), form.hidden,
                     form.directions == 2 ? ", bidirectional=True)" : ")");
}

std::string recurrent_python(const written_step& s) {
  const recurrent_form form(s);
  return fmt::format("self.{}({}){}", s.step.name, s.x(),
                     !form.last        ? "[0]"
                     : form.gates == 3 ? "[1].transpose(0, 1).flatten(1)"
                                       : "[1][0].transpose(0, 1).flatten(1)");
}

constexpr std::array rows{
    writer{.computes = "conv1d",
           .onnx = conv1d_onnx,
           .script = conv1d_script,
           .python = called_by_feature,
           .python_module = conv1d_module},
    writer{.computes = "max_pool1d",
           .onnx = max_pool_onnx,
           .script = max_pool_script,
           .python = max_pool_python},
    writer{.computes = "avg_pool1d",
           .onnx = avg_pool_onnx,
           .script = avg_pool_script,
           .python = avg_pool_python},
    writer{.computes = "average1d",
           .onnx = average_onnx,
           .script = average_script,
           .script_constants = matrix_of_steps,
           .python_module = average_module,
           .python_class = average_class},
    writer{.computes = "gru",
           .onnx = recurrent_onnx,
           .script = recurrent_script,
           .python = recurrent_python,
           .python_module = recurrent_module},
    writer{.computes = "lstm",
           .onnx = recurrent_onnx,
           .script = recurrent_script,
           .python = recurrent_python,
           .python_module = recurrent_module},
};

} // namespace

std::span<const writer> sequence_writers() {
  return rows;
}

} // namespace clade
