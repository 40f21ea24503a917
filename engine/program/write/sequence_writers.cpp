// Computations on sequences [N, steps, features], whose features every format wants behind
// the batch. "average1d" is a product with a matrix of steps.
#include "engine/program/lower/windows.hpp"
#include "engine/program/write/writer.hpp"

#include <fmt/format.h>

#include <array>
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
      .list("pads", {w.padding, w.before ? 0 : w.padding})
      .list("dilations", onnx_lines::sizes{w.dilation})
      .whole("group", w.groups);
  return s.last_swapped("convolved");
}

std::string conv1d_script(const written_step& s) {
  const auto w = window_of(s.step);
  auto x = by_feature(s);
  if (w.before)
    x = fmt::format("torch.constant_pad_nd({}, [{}, 0], 0)", x, w.padding);
  return fmt::format(
      "torch.transpose(torch.conv1d({}, {}, {}, [{}], [{}], [{}], {}), 1, 2)", x,
      script_tensor(s, "weight"), script_tensor(s, "bias"), w.stride,
      w.before ? 0 : w.padding, w.dilation, w.groups);
}

std::string conv1d_python(const written_step& s) {
  const auto w = window_of(s.step);
  return w.before ? fmt::format("self.{}(F.pad({}.mT, ({}, 0))).mT", s.step.name, s.x(),
                                w.padding)
                  : called_by_feature(s);
}

std::string conv1d_module(const written_step& s) {
  const auto& shape = s.tensor("weight").shape;
  const auto w = window_of(s.step);
  auto text =
      fmt::format("nn.Conv1d({}, {}, {}", shape[1] * w.groups, shape[0], w.kernel);
  const auto option = [&](const char* name, std::int64_t v, std::int64_t usual) {
    if (v != usual)
      text += fmt::format(", {}={}", name, v);
  };
  option("stride", w.stride, 1);
  option("padding", w.before ? 0 : w.padding, 0);
  option("dilation", w.dilation, 1);
  option("groups", w.groups, 1);
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

constexpr std::array rows{
    writer{.computes = "conv1d",
           .onnx = conv1d_onnx,
           .script = conv1d_script,
           .python = conv1d_python,
           .python_module = conv1d_module},
    writer{.computes = "grouped_conv1d",
           .onnx = conv1d_onnx,
           .script = conv1d_script,
           .python = conv1d_python,
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
};

} // namespace

std::span<const writer> sequence_writers() {
  return rows;
}

} // namespace clade
