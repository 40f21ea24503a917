// Networks of steps over time: a loop in Python and in TorchScript, and a Scan in ONNX, whose
// states are what layers said in the steps before, those of layers that have one, and what
// the last layer says.
#include "engine/program/write/writer.hpp"
#include "genome/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <span>
#include <vector>

namespace clade {
namespace {

using names = std::vector<std::string>;

/// The longest delay by which each step of a body is recalled; 0: it is not.
std::vector<std::int64_t> longest_delays(std::span<const program_step> steps) {
  std::vector<std::int64_t> longest(steps.size(), 0);
  for (const auto& s : steps)
    for (const auto& in : s.inputs)
      longest[in.step] = std::max(longest[in.step], in.delay);
  return longest;
}

/// The delay of a step that recalls; 0: it does not.
std::int64_t delay_of(const program_step& s) {
  return s.inputs.empty() ? 0 : s.inputs.front().delay;
}

/// A step of a body among the values of those before it.
written_step within(const written_step& over_time, const program_step& s,
                    const names& values, const std::string& examples) {
  names in;
  for (const auto& from : s.inputs)
    if (from.delay == 0)
      in.push_back(values[from.step]);
  if (s.inputs.empty())
    in.push_back(examples);
  return {s, over_time.weights, std::move(in)};
}

std::string indented(const names& lines, int depth) {
  std::string text;
  for (const auto& l : lines)
    text += fmt::format("{:{}}{}\n", "", depth * 4, l);
  return text;
}

/// "OverTime1" of "over_time1"
std::string class_name(const program_step& s) {
  return "OverTime" + s.name.substr(std::string_view("over_time").size());
}

std::string python_call(const written_step& s) {
  const auto& w = writer_of(s.step);
  return w.python != nullptr ? w.python(s)
                             : fmt::format("self.{}({})", s.step.name, joined(s.in));
}

/// The statements before a loop over the steps, and those of each step, at `t`.
struct loop_lines {
  names before{}, each{};
  names values{}; ///< The variables that hold what each step of the body says.
};

/// Writes the loop of Python or TorchScript. `add(line, value, delay, lines)` adds what sets
/// the variable `value` to what a step of the body says; where that recalls by a delay, its
/// input is there from `t` = `delay` on.
loop_lines loop_of(const written_step& s, std::span<const program_step> steps,
                   const auto& add) {
  const auto longest = longest_delays(steps);
  const std::string examples = "step";
  loop_lines lines;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const auto& one = steps[i];
    auto line = within(s, one, lines.values, examples);
    const auto value = i == 0 ? examples : one.name;
    lines.values.push_back(value);
    const auto delay = delay_of(one);
    if (delay > 0)
      line.in = {
          fmt::format("past_{}[t - {}]", steps[one.inputs.front().step].name, delay)};
    if (i > 0)
      add(line, value, delay, lines);
    if (longest[i] > 0) {
      lines.before.push_back(fmt::format("past_{} = []", one.name));
      lines.each.push_back(fmt::format("past_{}.append({})", one.name, value));
    }
  }
  return lines;
}

void append(names& to, names more) {
  std::ranges::move(more, std::back_inserter(to));
}

std::string python_class_of(const written_step& s) {
  names made;
  const auto add = [&](const written_step& line, const std::string& value,
                       std::int64_t delay, loop_lines& lines) {
    const auto& one = line.step;
    const auto& w = writer_of(one);
    if (w.python_module != nullptr)
      made.push_back(fmt::format("self.{} = {}  # {} -> {}", one.name,
                                 w.python_module(line), to_text(one.in),
                                 to_text(one.out)));
    if (w.next != nullptr) {
      lines.before.push_back(value + "_state = None");
      append(lines.each, w.next->python(line, value, value + "_state"));
    } else if (delay > 0) {
      lines.each.push_back(fmt::format("{} = {} if t >= {} else x.new_zeros(len(x), {})",
                                       value, python_call(line), delay, one.out.units()));
    } else {
      lines.each.push_back(fmt::format("{} = {}", value, python_call(line)));
    }
  };
  const auto lines = loop_of(s, body_steps(s.step), add);
  return fmt::format(
      "\nclass {}(nn.Module):\n"
      "    \"\"\"Layers that each step of a sequence goes through; says what they say of "
      "the last.\"\"\"\n\n"
      "    def __init__(self):\n        super().__init__()\n{}\n"
      "    def forward(self, x):\n{}        for t, step in enumerate(x.unbind(1)):\n{}"
      "        return {}\n\n",
      class_name(s.step), indented(made, 2), indented(lines.before, 2),
      indented(lines.each.empty() ? names{"pass"} : lines.each, 3), lines.values.back());
}

std::string python_module(const written_step& s) {
  return class_name(s.step) + "()";
}

std::string zeros(const std::string& sizes) {
  return fmt::format("torch.zeros([{}], device=x.device)", sizes);
}

std::string script_method(const written_step& s) {
  std::string methods;
  const auto add = [&](const written_step& line, const std::string& value,
                       std::int64_t delay, loop_lines& lines) {
    const auto units = line.step.out.units();
    const auto& w = writer_of(line.step);
    if (w.next != nullptr) {
      if (w.next->script_method != nullptr)
        methods += w.next->script_method(line);
      names state;
      for (std::size_t k = 0; k < w.next->states; ++k) {
        state.push_back(fmt::format("{}_state{}", value, k));
        lines.before.push_back(
            fmt::format("{} = {}", state.back(),
                        zeros(fmt::format("{}x.size(0), {}",
                                          w.next->by_direction ? "1, " : "", units))));
      }
      append(lines.each, w.next->script(line, value, state));
    } else if (delay > 0) {
      append(lines.each,
             {fmt::format("{} = {}", value, zeros(fmt::format("x.size(0), {}", units))),
              fmt::format("if t >= {}:", delay),
              fmt::format("    {} = {}", value, w.script(line))});
    } else {
      lines.each.push_back(fmt::format("{} = {}", value, w.script(line)));
    }
  };
  const auto lines = loop_of(s, body_steps(s.step, s.step.name + "_"), add);
  return fmt::format("{}def {}_said(self, x):\n    # type: (Tensor) -> Tensor\n{}"
                     "    said = {}\n"
                     "    for t in range(x.size(1)):\n"
                     "        step = torch.select(x, 1, t)\n{}"
                     "        said = {}\n    return said\n\n",
                     methods, s.step.name, indented(lines.before, 1),
                     zeros(fmt::format("x.size(0), {}", s.step.out.units())),
                     indented(lines.each, 2), lines.values.back());
}

std::string script(const written_step& s) {
  return fmt::format("self.{}_said({})", s.step.name, s.x());
}

/// Writes the Scan, and the graph of one step that is its body.
class scan_writer {
public:
  explicit scan_writer(onnx_lines& s)
      : s_(s),
        steps_(body_steps(s.step, s.step.name + ".")),
        longest_(longest_delays(steps_)) {}

  std::string written() {
    // The first state is what the last layer says.
    add_state("said", s_.step.out.units(), false);
    declare_past();
    const auto step = s_.part("step");
    for (const auto& one : steps_)
      values_.push_back(value_of(one, step));
    keep(states_.front(), values_.back());
    keep_past();
    body_.declare_inner_input(step);
    for (const auto& name : kept_)
      body_.declare_inner_output(name);
    names in = starts_;
    in.push_back(s_.x());
    auto scan = s_.last("Scan", in);
    for (std::size_t i = 1; i < states_.size(); ++i)
      scan.output(states_[i] + ".end");
    scan.graph("body", body_).whole("num_scan_inputs", 1);
    scan.list("scan_input_axes", onnx_graph::sizes{1});
    return s_.step.name;
  }

private:
  /// Adds a state of zeros; returns its name within a step.
  std::string add_state(const std::string& role, std::int64_t units, bool by_direction) {
    if (states_.empty()) {
      s_.add("Shape", {s_.x()}, "shape_of_examples");
      s_.add("Gather", {s_.part("shape_of_examples"), s_.shape("first", {0})},
             "examples");
    }
    const auto name = states_.emplace_back(s_.part(role));
    names sizes{s_.part("examples"), s_.graph.shape(name + ".units", {units})};
    if (by_direction)
      sizes.insert(sizes.begin(), s_.graph.shape(name + ".directions", {1}));
    s_.graph.add("Concat", sizes, name + ".sizes").whole("axis", 0);
    starts_.push_back(name + ".start");
    s_.graph.add("ConstantOfShape", {name + ".sizes"}, starts_.back());
    body_.declare_inner_input(name);
    kept_.emplace_back();
    return name;
  }
  /// The state is that behind the step.
  void keep(const std::string& state, const std::string& value) {
    const auto at = std::ranges::find(states_, state) - states_.begin();
    auto& kept = kept_[static_cast<std::size_t>(at)];
    kept = state + ".kept";
    body_.add("Identity", {value}, kept);
  }

  [[nodiscard]] static std::string before(std::size_t step, std::int64_t delay) {
    return fmt::format("past{}_{}", step, delay);
  }
  void declare_past() {
    for (std::size_t i = 0; i < steps_.size(); ++i)
      for (std::int64_t d = 1; d <= longest_[i]; ++d)
        add_state(before(i, d), steps_[i].out.units(), false);
  }
  void keep_past() {
    for (std::size_t i = 0; i < steps_.size(); ++i)
      for (std::int64_t d = 1; d <= longest_[i]; ++d)
        keep(s_.part(before(i, d)), d == 1 ? values_[i] : s_.part(before(i, d - 1)));
  }

  std::string value_of(const program_step& one, const std::string& step) {
    onnx_lines lines{within(s_, one, values_, step), body_};
    if (const auto delay = delay_of(one); delay > 0)
      lines.in = {s_.part(before(one.inputs.front().step, delay))};
    const auto& w = writer_of(one);
    if (w.next == nullptr)
      return w.onnx(lines);
    names state, behind;
    for (std::size_t k = 0; k < w.next->states; ++k)
      state.push_back(add_state(fmt::format("state{}_{}", values_.size(), k),
                                one.out.units(), w.next->by_direction));
    const auto value = w.next->onnx(lines, state, behind);
    for (std::size_t k = 0; k < state.size(); ++k)
      keep(state[k], behind[k]);
    return value;
  }

  onnx_lines& s_;
  std::vector<program_step> steps_;
  std::vector<std::int64_t> longest_;
  onnx_graph body_;
  names values_;                 ///< One for each of the steps so far.
  names states_, starts_, kept_; ///< The names of each state: before, at first, behind.
};

std::string over_time_onnx(onnx_lines& s) {
  return scan_writer(s).written();
}

constexpr std::array rows{writer{.computes = "over_time",
                                 .onnx = over_time_onnx,
                                 .script = script,
                                 .script_method = script_method,
                                 .python_module = python_module,
                                 .python_class_of = python_class_of}};

} // namespace

std::span<const writer> time_writers() {
  return rows;
}

} // namespace clade
