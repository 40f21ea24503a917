// Recurrent cells of one state, over sequences [N, steps, features]. ONNX does not know them,
// so that it has them written out, step by step.
#include "engine/program/write/writer.hpp"

#include <fmt/format.h>

#include <array>
#include <map>
#include <vector>

namespace clade {
namespace {

bool gives_last(const written_step& s) {
  return text_setting(s.step.settings, "steps") == "last";
}

/// [rows, columns] from row `first` on as [columns, rows].
std::vector<float> turned_rows(const weight_tensor& t, std::int64_t first,
                               std::int64_t rows) {
  const auto columns = t.shape[1];
  std::vector<float> out;
  for (std::int64_t c = 0; c < columns; ++c)
    for (std::int64_t r = first; r < first + rows; ++r)
      out.push_back(t.values[static_cast<std::size_t>(r * columns + c)]);
  return out;
}

/// Writes a cell out, whose nodes of a step have its number in their names.
class unrolled_cell {
public:
  explicit unrolled_cell(onnx_lines& s) : s_(s), units_(s.step.out.units()) {}

  std::string written() {
    const auto steps = s_.step.in.sizes[0];
    prepare();
    std::string state = s_.numbers("start", {1, units_},
                                   std::vector<float>(static_cast<std::size_t>(units_)));
    onnx_lines::names states;
    const auto axis = gives_last(s_) ? std::string() : s_.shape("axis_of_steps", {1});
    for (step_ = 0; step_ < steps; ++step_) {
      state = next(state);
      if (!gives_last(s_))
        states.push_back(add("Unsqueeze", {state, axis}, "one"));
    }
    if (gives_last(s_))
      s_.last("Identity", {state});
    else
      s_.last("Concat", states).whole("axis", 1);
    return s_.step.name;
  }

  /// Writes the one step that enters; returns the name of the state behind it.
  std::string written_behind(const std::string& state) {
    prepare();
    const auto behind = next(state);
    s_.last("Unsqueeze", {behind, s_.shape("axis_of_steps", {1})});
    return behind;
  }

private:
  void prepare() {
    map_inputs();
    for (std::size_t part = 0; part < maps("weight_hh"); ++part)
      state_weights_.push_back(weights("weight_hh", static_cast<std::int64_t>(part)));
    for (const auto* role : {"product", "of_state", "of_input", "bias_gate"})
      if (s_.has(role))
        vectors_[role] = s_.weight(role);
  }
  [[nodiscard]] std::size_t maps(const char* role) const {
    return static_cast<std::size_t>(s_.tensor(role).shape[0] / units_);
  }
  [[nodiscard]] std::string name(const std::string& role) const {
    return s_.part(fmt::format("{}_{}", role, step_));
  }
  std::string add(const std::string& op, const onnx_lines::names& in,
                  const std::string& role) {
    s_.graph.add(op, in, name(role));
    return name(role);
  }
  std::string weights(const char* role, std::int64_t part) {
    const auto& t = s_.tensor(role);
    return s_.numbers(fmt::format("{}_{}", role, part), {t.shape[1], units_},
                      turned_rows(t, part * units_, units_));
  }

  /// Maps what enters for all steps: a value [N, steps, units] for each part.
  void map_inputs() {
    const auto& bias = s_.tensor("bias").values;
    for (std::size_t part = 0; part < maps("weight_ih"); ++part) {
      const auto at = static_cast<std::int64_t>(part) * units_;
      const auto role = fmt::format("mapped_{}", part);
      s_.add("MatMul", {s_.x(), weights("weight_ih", static_cast<std::int64_t>(part))},
             role + "_without");
      s_.add(
          "Add",
          {s_.part(role + "_without"),
           s_.numbers(role + "_bias", {units_},
                      std::vector<float>(bias.begin() + at, bias.begin() + at + units_))},
          role);
      mapped_.push_back(s_.part(role));
    }
  }
  std::string at_step(std::size_t part) {
    const auto value = name(fmt::format("x{}", part));
    const auto place =
        s_.numbers(fmt::format("place{}_{}", part, step_), {}, onnx_lines::sizes{step_});
    s_.graph.add("Gather", {mapped_[part], place}, value).whole("axis", 1);
    return value;
  }
  std::string of_state(std::size_t part, const std::string& state) {
    return add("MatMul", {state, state_weights_[part]}, fmt::format("h{}", part));
  }
  /// to + gate * (from - to)
  std::string between(const std::string& from, const std::string& to,
                      const std::string& gate) {
    const auto apart = add("Sub", {from, to}, "apart");
    return add("Add", {to, add("Mul", {gate, apart}, "share")}, "state");
  }
  std::string next(const std::string& state) {
    if (s_.step.computes == "mgu")
      return next_mgu(state);
    return s_.step.computes == "ugrnn" ? next_ugrnn(state) : next_delta(state);
  }
  std::string next_mgu(const std::string& state) {
    const auto gate =
        add("Sigmoid", {add("Add", {at_step(0), of_state(0, state)}, "open")}, "gate");
    const auto kept = add("Mul", {gate, state}, "kept");
    const auto candidate =
        add("Tanh", {add("Add", {at_step(1), of_state(1, kept)}, "fresh")}, "candidate");
    return between(candidate, state, gate);
  }
  std::string next_ugrnn(const std::string& state) {
    const auto gate =
        add("Sigmoid", {add("Add", {at_step(0), of_state(0, state)}, "open")}, "gate");
    const auto candidate =
        add("Tanh", {add("Add", {at_step(1), of_state(1, state)}, "fresh")}, "candidate");
    return between(state, candidate, gate);
  }
  std::string next_delta(const std::string& state) {
    const auto x = at_step(0), mapped = of_state(0, state);
    const auto product =
        add("Mul", {add("Mul", {vectors_.at("product"), x}, "weighted"), mapped},
            "product_of");
    const auto states = add("Mul", {vectors_.at("of_state"), mapped}, "of_states");
    const auto inputs = add("Mul", {vectors_.at("of_input"), x}, "of_inputs");
    const auto sum =
        add("Add", {add("Add", {product, states}, "first_two"), inputs}, "sum");
    const auto candidate = add("Tanh", {sum}, "candidate");
    const auto gate =
        add("Sigmoid", {add("Add", {x, vectors_.at("bias_gate")}, "open")}, "gate");
    return add("Tanh", {between(state, candidate, gate)}, "next");
  }

  onnx_lines& s_;
  std::int64_t units_;
  std::int64_t step_ = 0;
  onnx_lines::names mapped_, state_weights_;
  std::map<std::string, std::string> vectors_; ///< The names of constants, by role.
};

std::string cell_onnx(onnx_lines& s) {
  return unrolled_cell(s).written();
}

/// The lines of TorchScript or Python that give the next `state` from `x`, the step's map.
std::string next_lines(const written_step& s, const auto& tensor,
                       const std::string& indent) {
  const auto& cell = s.step.computes;
  const auto line = [&](const std::string& text) {
    return fmt::format("{}{}\n", indent, text);
  };
  if (cell == "delta_rnn")
    return line(fmt::format("mapped = torch.matmul(state, {}.t())", tensor("weight_hh")))
           + line(
               fmt::format("fresh = torch.tanh({} * x * mapped + {} * mapped + {} * x)",
                           tensor("product"), tensor("of_state"), tensor("of_input")))
           + line(fmt::format("gate = torch.sigmoid(x + {})", tensor("bias_gate")))
           + line("state = torch.tanh(fresh + gate * (state - fresh))");
  const auto units = s.step.out.units();
  const auto first = fmt::format("[:, :{}]", units),
             second = fmt::format("[:, {}:]", units);
  if (cell == "ugrnn")
    return line(
               fmt::format("both = x + torch.matmul(state, {}.t())", tensor("weight_hh")))
           + line(fmt::format("fresh = torch.tanh(both{})", second))
           + line(fmt::format("state = fresh + torch.sigmoid(both{}) * (state - fresh)",
                              first));
  const auto rows = [&](const char* part) {
    return fmt::format("{}[{}].t()", tensor("weight_hh"), part);
  };
  const auto until = fmt::format(":{}", units), from = fmt::format("{}:", units);
  return line(fmt::format("gate = torch.sigmoid(x{} + torch.matmul(state, {}))", first,
                          rows(until.c_str())))
         + line(fmt::format("fresh = torch.tanh(x{} + torch.matmul(gate * state, {}))",
                            second, rows(from.c_str())))
         + line("state = state + gate * (fresh - state)");
}

/// The body of a method that takes x [N, steps, features].
std::string cell_body(const written_step& s, const auto& tensor) {
  std::string text = fmt::format(
      "    mapped_inputs = torch.matmul(x, {}.t()) + {}\n"
      "    state = torch.zeros([x.size(0), {}], device=x.device)\n"
      "    states = []\n"
      "    for step in range({}):\n"
      "        x = mapped_inputs[:, step]\n",
      tensor("weight_ih"), tensor("bias"), s.step.out.units(), s.step.in.sizes[0]);
  text += next_lines(s, tensor, "        ");
  return text + "        states.append(state)\n"
         + (gives_last(s) ? "    return state\n\n"
                          : "    return torch.stack(states, 1)\n\n");
}

std::string cell_method(const written_step& s) {
  return fmt::format("def {}_states(self, x):\n    # type: (Tensor) -> Tensor\n",
                     s.step.name)
         + cell_body(s, [&](const char* role) { return script_tensor(s, role); });
}

std::string next_method(const written_step& s) {
  const auto tensor = [&](const char* role) { return script_tensor(s, role); };
  return fmt::format("def {}_next(self, x, state):\n"
                     "    # type: (Tensor, Tensor) -> Tensor\n"
                     "    x = torch.matmul(x, {}.t()) + {}\n{}    return state\n\n",
                     s.step.name, tensor("weight_ih"), tensor("bias"),
                     next_lines(s, tensor, "    "));
}

next_writer::names next_script(const written_step& s, const std::string& value,
                               const next_writer::names& state) {
  return {fmt::format("{} = self.{}_next(torch.select({}, 1, 0), {})", state[0],
                      s.step.name, s.x(), state[0]),
          fmt::format("{} = torch.unsqueeze({}, 1)", value, state[0])};
}

next_writer::names next_python(const written_step& s, const std::string& value,
                               const std::string& state) {
  return {fmt::format("{} = self.{}({}, {})", value, s.step.name, s.x(), state),
          fmt::format("{} = {}[:, -1]", state, value)};
}

std::string next_onnx(onnx_lines& s, const next_writer::names& before,
                      next_writer::names& behind) {
  behind = {unrolled_cell(s).written_behind(before.front())};
  return s.step.name;
}

constexpr next_writer next_step{.onnx = next_onnx,
                                .script = next_script,
                                .script_method = next_method,
                                .python = next_python};

std::string cell_script(const written_step& s) {
  return fmt::format("self.{}_states({})", s.step.name, s.x());
}

std::string cell_module(const written_step& s) {
  return fmt::format("{}({}, {}{})",
                     s.step.computes == "mgu"     ? "MGU"
                     : s.step.computes == "ugrnn" ? "UGRNN"
                                                  : "DeltaRNN",
                     s.step.in.units(), s.step.out.units(),
                     gives_last(s) ? ", last=True" : "");
}

constexpr std::string_view mgu_class = R"(
class MGU(nn.Module):
    """Minimal gated units; `last`: what they say behind the last step alone."""

    def __init__(self, features, units, last=False):
        super().__init__()
        self.weight_ih = nn.Parameter(torch.zeros(2 * units, features))
        self.weight_hh = nn.Parameter(torch.zeros(2 * units, units))
        self.bias = nn.Parameter(torch.zeros(2 * units))
        self.last = last

    def forward(self, x, state=None):
        forget, fresh = self.weight_hh.chunk(2)
        state = x.new_zeros(len(x), forget.shape[1]) if state is None else state
        states = []
        for step in F.linear(x, self.weight_ih, self.bias).unbind(1):
            to_gate, to_state = step.chunk(2, 1)
            gate = torch.sigmoid(to_gate + F.linear(state, forget))
            candidate = torch.tanh(to_state + F.linear(gate * state, fresh))
            state = state + gate * (candidate - state)
            states.append(state)
        return state if self.last else torch.stack(states, 1)

)";

constexpr std::string_view ugrnn_class = R"(
class UGRNN(nn.Module):
    """Update-gate recurrent units; `last`: what they say behind the last step alone."""

    def __init__(self, features, units, last=False):
        super().__init__()
        self.weight_ih = nn.Parameter(torch.zeros(2 * units, features))
        self.weight_hh = nn.Parameter(torch.zeros(2 * units, units))
        self.bias = nn.Parameter(torch.zeros(2 * units))
        self.last = last

    def forward(self, x, state=None):
        state = x.new_zeros(len(x), self.weight_hh.shape[1]) if state is None else state
        states = []
        for step in F.linear(x, self.weight_ih, self.bias).unbind(1):
            gate, candidate = (step + F.linear(state, self.weight_hh)).chunk(2, 1)
            candidate = torch.tanh(candidate)
            state = candidate + torch.sigmoid(gate) * (state - candidate)
            states.append(state)
        return state if self.last else torch.stack(states, 1)

)";

constexpr std::string_view delta_class = R"(
class DeltaRNN(nn.Module):
    """Units that keep what does not change; `last`: what they say behind the last step alone."""

    def __init__(self, features, units, last=False):
        super().__init__()
        self.weight_ih = nn.Parameter(torch.zeros(units, features))
        self.weight_hh = nn.Parameter(torch.zeros(units, units))
        self.bias = nn.Parameter(torch.zeros(units))
        self.bias_gate = nn.Parameter(torch.zeros(units))
        self.product = nn.Parameter(torch.ones(units))
        self.of_state = nn.Parameter(torch.ones(units))
        self.of_input = nn.Parameter(torch.ones(units))
        self.last = last

    def forward(self, x, state=None):
        state = x.new_zeros(len(x), self.weight_hh.shape[1]) if state is None else state
        states = []
        for step in F.linear(x, self.weight_ih, self.bias).unbind(1):
            mapped = F.linear(state, self.weight_hh)
            candidate = torch.tanh(self.product * step * mapped + self.of_state * mapped + self.of_input * step)
            gate = torch.sigmoid(step + self.bias_gate)
            state = torch.tanh(candidate + gate * (state - candidate))
            states.append(state)
        return state if self.last else torch.stack(states, 1)

)";

constexpr std::array rows{
    writer{.computes = "mgu",
           .onnx = cell_onnx,
           .script = cell_script,
           .script_method = cell_method,
           .python_module = cell_module,
           .python_class = mgu_class,
           .next = &next_step},
    writer{.computes = "ugrnn",
           .onnx = cell_onnx,
           .script = cell_script,
           .script_method = cell_method,
           .python_module = cell_module,
           .python_class = ugrnn_class,
           .next = &next_step},
    writer{.computes = "delta_rnn",
           .onnx = cell_onnx,
           .script = cell_script,
           .script_method = cell_method,
           .python_module = cell_module,
           .python_class = delta_class,
           .next = &next_step},
};

} // namespace

std::span<const writer> cell_writers() {
  return rows;
}

} // namespace clade
