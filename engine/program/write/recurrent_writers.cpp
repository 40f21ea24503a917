// Recurrent layers of sequences [N, steps, features]. ONNX has the gates of LibTorch's own in
// another order, and the directions side by side.
#include "engine/program/write/writer.hpp"
#include "genome/base/text.hpp"

#include <fmt/format.h>

#include <array>
#include <span>
#include <vector>

namespace clade {
namespace {

struct recurrent_form {
  explicit recurrent_form(const written_step& s)
      : gates(s.step.computes == "rnn"   ? 1
              : s.step.computes == "gru" ? 3
                                         : 4),
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
  constexpr std::array<std::size_t, 1> of_rnn{0};
  constexpr std::array<std::size_t, 3> of_gru{1, 0, 2};
  constexpr std::array<std::size_t, 4> of_lstm{0, 3, 1, 2};
  const auto order = form.gates == 1   ? std::span<const std::size_t>(of_rnn)
                     : form.gates == 3 ? std::span<const std::size_t>(of_gru)
                                       : of_lstm;
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

/// Adds the node, which gives the part "states", behind a state or, where `before` is empty,
/// at the beginning.
onnx_graph::node recurrent_node(onnx_lines& s, const recurrent_form& form,
                                const onnx_lines::names& before) {
  const auto rows = form.gates * form.hidden, inputs = s.step.in.units();
  s.add("Transpose", {s.x()}, "by_step").list("perm", {1, 0, 2});
  const auto weights = side_by_side(s, form, "inputs", {"weight_ih_l0"}, {rows, inputs});
  const auto states =
      side_by_side(s, form, "hidden", {"weight_hh_l0"}, {rows, form.hidden});
  const auto biases =
      side_by_side(s, form, "biases", {"bias_ih_l0", "bias_hh_l0"}, {2 * rows});
  const auto* op = form.gates == 1 ? "RNN" : form.gates == 3 ? "GRU" : "LSTM";
  onnx_lines::names in{s.part("by_step"), weights, states, biases};
  if (!before.empty()) {
    in.emplace_back(); // All sequences have all steps.
    in.insert(in.end(), before.begin(), before.end());
  }
  auto node = s.add(op, in, "states");
  node.whole("hidden_size", form.hidden);
  node.text("direction", form.directions == 2 ? "bidirectional" : "forward");
  if (form.gates == 3)
    node.whole("linear_before_reset", 1);
  return node;
}

std::string recurrent_onnx(onnx_lines& s) {
  const recurrent_form form(s);
  recurrent_node(s, form, {});
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

/// The call of TorchScript, behind a state.
std::string said_by(const written_step& s, const std::string& state) {
  const recurrent_form form(s);
  std::string weights;
  for (const auto& t : s.step.tensors)
    weights += (weights.empty() ? "" : ", ") + script_tensor(s, t.role);
  return fmt::format("torch.{}({}, {}, [{}], True, 1, 0.0, False, {}, True)",
                     form.gates == 1 ? "rnn_tanh" : s.step.computes, s.x(), state,
                     weights, form.directions == 2 ? "True" : "False");
}

std::string recurrent_script(const written_step& s) {
  const recurrent_form form(s);
  const auto start = fmt::format("{}.new_zeros([{}, {}.size(0), {}])", s.x(),
                                 form.directions, s.x(), form.hidden);
  const auto said =
      said_by(s, form.gates == 4 ? fmt::format("[{}, {}]", start, start) : start);
  return form.last ? fmt::format("torch.flatten(torch.transpose({}[1], 0, 1), 1)", said)
                   : said + "[0]";
}

std::string recurrent_module(const written_step& s) {
  const recurrent_form form(s);
  return fmt::format("nn.{}({}, {}, batch_first=True{}",
                     form.gates == 1   ? "RNN"
                     : form.gates == 3 ? "GRU"
                                       : "LSTM",
                     s.step.in.units(), form.hidden,
                     form.directions == 2 ? ", bidirectional=True)" : ")");
}

std::string recurrent_python(const written_step& s) {
  const recurrent_form form(s);
  return fmt::format("self.{}({}){}", s.step.name, s.x(),
                     !form.last        ? "[0]"
                     : form.gates == 4 ? "[1][0].transpose(0, 1).flatten(1)"
                                       : "[1].transpose(0, 1).flatten(1)");
}

std::string next_onnx(onnx_lines& s, const next_writer::names& before,
                      next_writer::names& behind) {
  auto node = recurrent_node(s, recurrent_form(s), before);
  for (std::size_t i = 0; i < before.size(); ++i) {
    behind.push_back(s.part(fmt::format("behind{}", i)));
    node.output(behind.back());
  }
  s.last("Transpose", {behind.front()}).list("perm", {1, 0, 2});
  return s.step.name;
}

next_writer::names next_script(const written_step& s, const std::string& value,
                               const next_writer::names& state) {
  const auto all = value + "_all";
  next_writer::names lines{
      fmt::format(
          "{} = {}", all,
          said_by(s, state.size() == 1 ? state[0] : fmt::format("[{}]", joined(state)))),
      fmt::format("{} = {}[0]", value, all)};
  for (std::size_t i = 0; i < state.size(); ++i)
    lines.push_back(fmt::format("{} = {}[{}]", state[i], all, i + 1));
  return lines;
}

next_writer::names next_python(const written_step& s, const std::string& value,
                               const std::string& state) {
  return {
      fmt::format("{}, {} = self.{}({}, {})", value, state, s.step.name, s.x(), state)};
}

constexpr next_writer next_of_one{.states = 1,
                                  .by_direction = true,
                                  .onnx = next_onnx,
                                  .script = next_script,
                                  .python = next_python};
constexpr next_writer next_of_two{.states = 2,
                                  .by_direction = true,
                                  .onnx = next_onnx,
                                  .script = next_script,
                                  .python = next_python};

constexpr std::array rows{
    writer{.computes = "gru",
           .onnx = recurrent_onnx,
           .script = recurrent_script,
           .python = recurrent_python,
           .python_module = recurrent_module,
           .next = &next_of_one},
    writer{.computes = "lstm",
           .onnx = recurrent_onnx,
           .script = recurrent_script,
           .python = recurrent_python,
           .python_module = recurrent_module,
           .next = &next_of_two},
    writer{.computes = "rnn",
           .onnx = recurrent_onnx,
           .script = recurrent_script,
           .python = recurrent_python,
           .python_module = recurrent_module,
           .next = &next_of_one},
};

} // namespace

std::span<const writer> recurrent_writers() {
  return rows;
}

} // namespace clade
