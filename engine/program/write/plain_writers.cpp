// Computations without weights. ONNX has operators that came after opset 17, or that
// onnxruntime has for some types alone, written out in older ones: GELU by Erf, SiLU by
// Sigmoid.
#include "engine/program/write/writer.hpp"
#include "genome/base/text.hpp"

#include <fmt/format.h>

#include <array>
#include <limits>
#include <numbers>

namespace clade {
namespace {

template<class Step>
std::string pass_on(Step& s) {
  return s.x();
}

std::string activation_onnx(onnx_lines& s) {
  const auto& function = text_setting(s.step.settings, "function");
  if (function == "relu")
    s.last("Relu", {s.x()});
  else if (function == "leaky_relu")
    s.last("LeakyRelu", {s.x()}).real("alpha", 0.01);
  else if (function == "elu")
    s.last("Elu", {s.x()}).real("alpha", 1);
  else if (function == "tanh")
    s.last("Tanh", {s.x()});
  else if (function == "sigmoid")
    s.last("Sigmoid", {s.x()});
  else if (function == "silu") {
    s.add("Sigmoid", {s.x()}, "gate");
    s.last("Mul", {s.x(), s.part("gate")});
  } else { // gelu: x/2 (1 + erf(x / sqrt 2))
    s.add("Mul", {s.x(), s.number("root", 1 / std::numbers::sqrt2)}, "scaled");
    s.add("Erf", {s.part("scaled")}, "erf");
    s.add("Add", {s.part("erf"), s.number("one", 1)}, "shifted");
    s.add("Mul", {s.x(), s.part("shifted")}, "double");
    s.last("Mul", {s.part("double"), s.number("half", 0.5)});
  }
  return s.step.name;
}

std::string activation_script(const written_step& s) {
  const auto& function = text_setting(s.step.settings, "function");
  return fmt::format("torch.{}({}{}", function, s.x(),
                     function == "leaky_relu" ? ", 0.01)" : ")");
}

std::string activation_python(const written_step& s) {
  const auto& function = text_setting(s.step.settings, "function");
  return fmt::format("{}{}({})",
                     function == "tanh" || function == "sigmoid" ? "torch." : "F.",
                     function, s.x());
}

std::string zero_onnx(onnx_lines& s) {
  s.last("Mul", {s.x(), s.number("none", 0)});
  return s.step.name;
}
std::string zero_script(const written_step& s) {
  return fmt::format("torch.zeros_like({})", s.x());
}

std::string dropout_module(const written_step& s) {
  return fmt::format("nn.Dropout({})", literal(real_setting(s.step.settings, "rate")));
}

// All inputs, joined by an operator of two.
std::string folded(onnx_lines& s, const char* op) {
  auto sum = s.x();
  for (std::size_t i = 1; i < s.in.size(); ++i) {
    const auto name =
        i + 1 == s.in.size() ? s.step.name : s.part(fmt::format("first{}", i + 1));
    s.graph.add(op, {sum, s.in[i]}, name);
    sum = name;
  }
  return sum;
}
std::string add_onnx(onnx_lines& s) {
  return folded(s, "Add");
}
std::string multiply_onnx(onnx_lines& s) {
  return folded(s, "Mul");
}
std::string sum_of_inputs(const written_step& s) {
  return joined(s.in, " + ");
}
std::string product_of_inputs(const written_step& s) {
  return joined(s.in, " * ");
}

std::int64_t axis_of_units(const written_step& s) {
  return s.step.out.layout() == layout::sequence ? 2 : 1;
}
std::string concat_onnx(onnx_lines& s) {
  s.last("Concat", s.in).whole("axis", axis_of_units(s));
  return s.step.name;
}
std::string concatenated(const written_step& s) {
  return fmt::format("torch.cat([{}], {})", joined(s.in, ", "), axis_of_units(s));
}

std::string flatten_onnx(onnx_lines& s) {
  s.last("Flatten", {s.x()}).whole("axis", 1);
  return s.step.name;
}
std::string flatten_script(const written_step& s) {
  return fmt::format("torch.flatten({}, 1)", s.x());
}
std::string flatten_python(const written_step& s) {
  return s.x() + ".flatten(1)";
}

std::string reshaped_onnx(onnx_lines& s) {
  s.last("Reshape", {s.x(), s.shape("shape", onnx_graph::of_examples(s.step.out))});
  return s.step.name;
}
std::string as_image_script(const written_step& s) {
  return fmt::format("torch.unsqueeze(torch.unsqueeze({}, 2), 3)", s.x());
}
std::string as_image_python(const written_step& s) {
  return s.x() + "[:, :, None, None]";
}

std::string as_sequence_script(const written_step& s) {
  return fmt::format("torch.unsqueeze({}, 1)", s.x());
}
std::string as_sequence_python(const written_step& s) {
  return s.x() + "[:, None]";
}

std::string both_sides_onnx(onnx_lines& s) {
  const auto one = [&](const char* role, std::int64_t v) { return s.shape(role, {v}); };
  s.add("Slice",
        {s.x(), one("from", -1), one("to", std::numeric_limits<std::int64_t>::min()),
         one("axis", 3), one("step", -1)},
        "mirrored");
  s.last("Concat", {s.x(), s.part("mirrored")}).whole("axis", 0);
  return s.step.name;
}
std::string both_sides_script(const written_step& s) {
  return fmt::format("torch.cat([{}, torch.flip({}, [3])], 0)", s.x(), s.x());
}

// [2 n, outputs] to [2, n, outputs].
std::string mean_of_sides_onnx(onnx_lines& s) {
  const auto outputs = s.step.out.sizes.front();
  s.add("Reshape", {s.x(), s.shape("shape", {2, -1, outputs})}, "sides");
  s.last("ReduceMean", {s.part("sides")})
      .list("axes", onnx_graph::sizes{0})
      .whole("keepdims", 0);
  return s.step.name;
}
std::string mean_of_sides_script(const written_step& s) {
  return fmt::format("torch.mean(torch.reshape({}, [2, -1, {}]), 0)", s.x(),
                     s.step.out.sizes.front());
}

constexpr std::array rows{
    writer{.computes = "input",
           .onnx = pass_on<onnx_lines>,
           .script = pass_on<const written_step>,
           .python = pass_on<const written_step>},
    writer{.computes = "activation",
           .onnx = activation_onnx,
           .script = activation_script,
           .python = activation_python},
    writer{.computes = "identity",
           .onnx = pass_on<onnx_lines>,
           .script = pass_on<const written_step>,
           .python = pass_on<const written_step>},
    writer{.computes = "zero",
           .onnx = zero_onnx,
           .script = zero_script,
           .python = zero_script},
    writer{.computes = "dropout",
           .onnx = pass_on<onnx_lines>,
           .script = pass_on<const written_step>,
           .python_module = dropout_module},
    writer{.computes = "add",
           .onnx = add_onnx,
           .script = sum_of_inputs,
           .python = sum_of_inputs},
    writer{.computes = "multiply",
           .onnx = multiply_onnx,
           .script = product_of_inputs,
           .python = product_of_inputs},
    writer{.computes = "both_sides",
           .onnx = both_sides_onnx,
           .script = both_sides_script,
           .python = both_sides_script},
    writer{.computes = "mean_of_sides",
           .onnx = mean_of_sides_onnx,
           .script = mean_of_sides_script,
           .python = mean_of_sides_script},
    writer{.computes = "concat",
           .onnx = concat_onnx,
           .script = concatenated,
           .python = concatenated},
    writer{.computes = "flatten",
           .onnx = flatten_onnx,
           .script = flatten_script,
           .python = flatten_python},
    writer{.computes = "as_image",
           .onnx = reshaped_onnx,
           .script = as_image_script,
           .python = as_image_python},
    writer{.computes = "as_sequence",
           .onnx = reshaped_onnx,
           .script = as_sequence_script,
           .python = as_sequence_python},
};

} // namespace

std::span<const writer> plain_writers() {
  return rows;
}

} // namespace clade
