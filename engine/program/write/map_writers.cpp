// Convolutions and linear maps.
#include "engine/program/lower/windows.hpp"
#include "engine/program/write/writer.hpp"

#include <fmt/format.h>

#include <array>

namespace clade {
namespace {

std::string number(std::int64_t n) {
  return std::to_string(n);
}

onnx_lines::names map_inputs(onnx_lines& s) {
  onnx_lines::names in{s.x(), s.weight("weight")};
  if (s.has("bias"))
    in.push_back(s.weight("bias"));
  return in;
}

std::string convolution_onnx(onnx_lines& s) {
  const auto w = window_of(s.step);
  s.last("Conv", map_inputs(s))
      .list("kernel_shape", {w.kernel, w.kernel})
      .list("strides", {w.stride, w.stride})
      .list("pads", {w.padding, w.padding, w.padding, w.padding})
      .list("dilations", {w.dilation, w.dilation})
      .whole("group", w.groups);
  return s.step.name;
}

std::string convolution_script(const written_step& s) {
  const auto w = window_of(s.step);
  const auto pair = [](std::int64_t v) {
    return fmt::format("[{}, {}], ", number(v), number(v));
  };
  return fmt::format("torch.conv2d({}, {}, {}, {}{}{}{})", s.x(),
                     script_tensor(s, "weight"), script_tensor(s, "bias"), pair(w.stride),
                     pair(w.padding), pair(w.dilation), number(w.groups));
}

std::string convolution_module(const written_step& s) {
  const auto& shape = s.tensor("weight").shape;
  const auto w = window_of(s.step);
  auto text = fmt::format("nn.Conv2d({}, {}, {}", number(shape[1] * w.groups),
                          number(shape[0]), number(w.kernel));
  const auto option = [&](const char* name, std::int64_t v, std::int64_t usual) {
    if (v != usual)
      text += fmt::format(", {}={}", name, number(v));
  };
  option("stride", w.stride, 1);
  option("padding", w.padding, 0);
  option("dilation", w.dilation, 1);
  option("groups", w.groups, 1);
  return text + (s.has("bias") ? ")" : ", bias=False)");
}

std::string linear_onnx(onnx_lines& s) {
  s.last("Gemm", map_inputs(s)).whole("transB", 1);
  return s.step.name;
}

std::string linear_script(const written_step& s) {
  return fmt::format("torch.linear({}, {}, {})", s.x(), script_tensor(s, "weight"),
                     script_tensor(s, "bias"));
}

std::string linear_module(const written_step& s) {
  const auto& shape = s.tensor("weight").shape;
  return fmt::format("nn.Linear({}, {}{}", number(shape[1]), number(shape[0]),
                     s.has("bias") ? ")" : ", bias=False)");
}

constexpr std::array rows{
    writer{.computes = "conv",
           .onnx = convolution_onnx,
           .script = convolution_script,
           .python_module = convolution_module},
    writer{.computes = "depthwise_conv",
           .onnx = convolution_onnx,
           .script = convolution_script,
           .python_module = convolution_module},
    writer{.computes = "dense",
           .onnx = linear_onnx,
           .script = linear_script,
           .python_module = linear_module},
};

} // namespace

std::span<const writer> map_writers() {
  return rows;
}

} // namespace clade
