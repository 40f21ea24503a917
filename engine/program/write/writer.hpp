#pragma once

#include "engine/program/lower/program.hpp"
#include "engine/program/lower/weight_tensor.hpp"
#include "engine/program/write/onnx_graph.hpp"

#include <fmt/format.h>

#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace clade {

/// A step that is written, whose tensors are indices into `weights`.
struct written_step {
  const program_step& step;
  std::span<const weight_tensor> weights;
  /// Its inputs: names of values or, in Python, expressions; of an input the prepared
  /// examples.
  std::vector<std::string> in;

  [[nodiscard]] const std::string& x() const { return in.front(); }
  [[nodiscard]] bool has(std::string_view role) const {
    return step.tensor(role).has_value();
  }
  [[nodiscard]] const weight_tensor& tensor(std::string_view role) const {
    return weights[*step.tensor(role)];
  }
};

/// The nodes of a step. The last has the step's name, and each of its values is named
/// "step.part".
struct onnx_lines : written_step {
  using names = onnx_graph::names;
  using sizes = onnx_graph::sizes;

  onnx_graph& graph;

  [[nodiscard]] std::string part(const std::string& role) const {
    return fmt::format("{}.{}", step.name, role);
  }
  /// Adds a node that gives a part; `last` adds the one that gives the step's value.
  onnx_graph::node add(const std::string& op, const names& inputs,
                       const std::string& role) {
    return graph.add(op, inputs, part(role));
  }
  onnx_graph::node last(const std::string& op, const names& inputs) {
    return graph.add(op, inputs, step.name);
  }
  /// A weight as a constant, in its own shape or in another one; returns its name.
  std::string weight(std::string_view role) { return weight(role, tensor(role).shape); }
  std::string weight(std::string_view role, const sizes& shape) {
    return graph.numbers(tensor(role).name, shape, tensor(role).values);
  }
  template<class Number>
  std::string numbers(const std::string& role, const sizes& shape,
                      const std::vector<Number>& values) {
    return graph.numbers(part(role), shape, values);
  }
  std::string number(const std::string& role, double v) {
    return numbers(role, {}, std::vector<float>{static_cast<float>(v)});
  }
  std::string shape(const std::string& role, const sizes& values) {
    return graph.shape(part(role), values);
  }
  /// Adds the node that swaps the steps and the features of a sequence; returns the part.
  std::string swapped(const std::string& x, const std::string& role) {
    add("Transpose", {x}, role).list("perm", sizes{0, 2, 1});
    return part(role);
  }
  /// Does so with the part `role`, which gives the step's value.
  std::string last_swapped(const std::string& role) {
    last("Transpose", {part(role)}).list("perm", sizes{0, 2, 1});
    return step.name;
  }
};

/// A constant of a TorchScript module that is no weight.
struct script_constant {
  std::string name; ///< "step_rows"
  std::vector<std::int64_t> shape;
  std::variant<std::vector<float>, std::vector<std::int64_t>> values;
};

/// How the exports write one step of a computation that has a state (kernel::next): x is
/// [N, 1, features], and so is what comes out.
struct next_writer {
  using names = std::vector<std::string>;

  std::size_t states = 1;    ///< Tensors of a state.
  bool by_direction = false; ///< They are [1, N, units], and not [N, units].
  /// Adds the nodes; returns the name of the value, and those of the state behind the step.
  std::string (*onnx)(onnx_lines&, const names& before, names& behind);
  /// Statements that set the variable `value` and those of the state.
  names (*script)(const written_step&, const std::string& value, const names& state);
  std::string (*script_method)(const written_step&) =
      nullptr; ///< The method that it uses.
  /// Statements of Python; a state is one variable there, None before the first step.
  names (*python)(const written_step&, const std::string& value,
                  const std::string& state);
};

/// The lines of each export for a computation.
struct writer {
  using line = std::string (*)(const written_step&);

  std::string_view computes;
  /// Adds the nodes and returns the name of the value.
  std::string (*onnx)(onnx_lines&);

  /// The expression of TorchScript, and the constants and the method that it uses.
  line script;
  std::vector<script_constant> (*script_constants)(const written_step&) = nullptr;
  line script_method = nullptr;

  /// The expression of Python; null: the step is a module, self.NAME, that is called.
  line python = nullptr;
  /// The module's making; null: the step is none. With `python`, that calls it.
  line python_module = nullptr;
  /// The module's class, where PyTorch has none.
  std::string_view python_class = {};
  /// The module's class, where each step has one of its own.
  line python_class_of = nullptr;
  /// Null: it has no state.
  const next_writer* next = nullptr;
};

/// In the order in which the classes of Python stand in a file.
[[nodiscard]] std::span<const writer> writers();
/// The writer of a step; a computation that has none ends the program.
[[nodiscard]] const writer& writer_of(const program_step& s);

[[nodiscard]] std::span<const writer> plain_writers();
[[nodiscard]] std::span<const writer> map_writers();
[[nodiscard]] std::span<const writer> pool_writers();
[[nodiscard]] std::span<const writer> norm_writers();
[[nodiscard]] std::span<const writer> sequence_writers();
[[nodiscard]] std::span<const writer> recurrent_writers();
[[nodiscard]] std::span<const writer> cell_writers();
[[nodiscard]] std::span<const writer> attention_writers();
[[nodiscard]] std::span<const writer> time_writers();
[[nodiscard]] std::span<const writer> table_writers();
[[nodiscard]] std::span<const writer> random_convolution_writers();

/// The shortest digits that give the number back, with a point or an exponent.
[[nodiscard]] std::string literal(double v);

/// The attribute of a TorchScript module for a weight: "conv1.weight" is conv1_weight.
[[nodiscard]] std::string attribute_name(std::string name);
/// "self.conv1_weight", or "None" where the step has no such tensor.
[[nodiscard]] std::string script_tensor(const written_step& s, std::string_view role);

} // namespace clade
