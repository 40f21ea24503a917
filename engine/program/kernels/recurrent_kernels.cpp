// Recurrent layers of sequences [N, steps, features]: LibTorch's own, and cells that are
// computed step by step.
#include "engine/program/kernels/kernel.hpp"

#include <ATen/ATen.h>

#include <array>
#include <optional>
#include <tuple>
#include <vector>

namespace clade {
namespace {

using inputs = kernel::inputs;

/// A recurrent layer's tensors in LibTorch's order, which is theirs in the step.
struct recurrent_parts {
  explicit recurrent_parts(const kernel_context& c)
      : weights(c.tensors.begin(), c.tensors.end()),
        hidden(weights[1].size(1)),
        last(text_setting(c.step.settings, "steps") == "last") {}

  [[nodiscard]] bool both() const { return weights.size() > 4; }
  [[nodiscard]] at::Tensor zeros(const at::Tensor& x) const {
    return at::zeros({both() ? 2 : 1, x.size(0), hidden}, x.options());
  }
  /// The state [N, units] before a step.
  [[nodiscard]] at::Tensor before(const at::Tensor& x,
                                  const std::vector<at::Tensor>& state) const {
    return state.empty() ? at::zeros({x.size(0), hidden}, x.options()) : state[0];
  }
  /// The states `end` behind the last step of each direction are [directions, N, units].
  [[nodiscard]] at::Tensor given(const at::Tensor& all, const at::Tensor& end) const {
    return last ? end.transpose(0, 1).flatten(1) : all;
  }

  std::vector<at::Tensor> weights;
  std::int64_t hidden;
  bool last;
};

using whole_sequences = std::tuple<at::Tensor, at::Tensor> (*)(
    const at::Tensor& x, const at::Tensor& start, at::TensorList weights, bool has_biases,
    std::int64_t layers, double dropout, bool training, bool both, bool batch_first);
using one_step = at::Tensor (*)(const at::Tensor& x, const at::Tensor& state,
                                const at::Tensor& weight_ih, const at::Tensor& weight_hh,
                                const std::optional<at::Tensor>& bias_ih,
                                const std::optional<at::Tensor>& bias_hh);

/// A layer of LibTorch that has one state.
template<whole_sequences Whole, one_step Step>
kernel make_of_one_state(const kernel_context& c) {
  const recurrent_parts p(c);
  const auto next = [p](const at::Tensor& x, std::vector<at::Tensor>& state) {
    const auto& w = p.weights;
    state = {Step(x.select(1, 0), p.before(x, state), w[0], w[1], w[2], w[3])};
    return state[0].unsqueeze(1);
  };
  return {.forward =
              [p](inputs in, bool training) {
                const auto x = in[0].contiguous();
                const auto [all, end] =
                    Whole(x, p.zeros(x), p.weights, /*has_biases=*/true, /*layers=*/1,
                          /*dropout=*/0, training, p.both(), /*batch_first=*/true);
                return p.given(all, end);
              },
          .next = next};
}

kernel make_lstm(const kernel_context& c) {
  const recurrent_parts p(c);
  const auto next = [p](const at::Tensor& x, std::vector<at::Tensor>& state) {
    const auto& w = p.weights;
    if (state.empty())
      state = {p.before(x, state), p.before(x, state)};
    const auto [hidden, cell] =
        at::lstm_cell(x.select(1, 0), state, w[0], w[1], w[2], w[3]);
    state = {hidden, cell};
    return hidden.unsqueeze(1);
  };
  return {.forward =
              [p](inputs in, bool training) {
                const auto x = in[0].contiguous();
                const auto start = p.zeros(x);
                const auto said =
                    at::lstm(x, {start, start}, p.weights, /*has_biases=*/true,
                             /*num_layers=*/1, /*dropout=*/0, training, p.both(),
                             /*batch_first=*/true);
                return p.given(std::get<0>(said), std::get<1>(said));
              },
          .next = next};
}

/// A cell of one state: what enters is mapped for all steps at once, and `Next` gives the
/// state [N, units] behind a step from the step's map and the state before it.
template<class Cell>
kernel make_cell(const kernel_context& c) {
  const bool last = text_setting(c.step.settings, "steps") == "last";
  const Cell cell(c);
  const auto weight = c.tensor("weight_ih"), bias = c.tensor("bias");
  const auto units = c.step.out.units();
  const auto next = [=](const at::Tensor& x, std::vector<at::Tensor>& state) {
    const auto mapped = at::linear(x.select(1, 0), weight, bias);
    if (state.empty())
      state = {at::zeros({x.size(0), units}, mapped.options())};
    state = {cell.next(mapped, state[0])};
    return state[0].unsqueeze(1);
  };
  return {.forward =
              [=](inputs in, bool) {
                const auto mapped = at::linear(in[0], weight, bias);
                auto state = at::zeros({in[0].size(0), units}, mapped.options());
                std::vector<at::Tensor> all;
                for (std::int64_t t = 0; t < mapped.size(1); ++t) {
                  state = cell.next(mapped.select(1, t), state);
                  if (!last)
                    all.push_back(state);
                }
                return last ? state : at::stack(all, 1);
              },
          .next = next};
}

struct mgu_cell {
  explicit mgu_cell(const kernel_context& c) : weight(c.tensor("weight_hh")) {}

  [[nodiscard]] at::Tensor next(const at::Tensor& x, const at::Tensor& h) const {
    // A view that was made before an optimiser's step could not be computed with behind it.
    const auto units = h.size(1);
    const auto forget = weight.narrow(0, 0, units),
               fresh = weight.narrow(0, units, units);
    const auto parts = x.chunk(2, 1);
    const auto gate = (parts[0] + at::linear(h, forget)).sigmoid();
    const auto candidate = (parts[1] + at::linear(gate * h, fresh)).tanh();
    return h + gate * (candidate - h);
  }

  at::Tensor weight;
};

struct ugrnn_cell {
  explicit ugrnn_cell(const kernel_context& c) : weight(c.tensor("weight_hh")) {}

  [[nodiscard]] at::Tensor next(const at::Tensor& x, const at::Tensor& h) const {
    const auto parts = (x + at::linear(h, weight)).chunk(2, 1);
    const auto candidate = parts[1].tanh();
    return candidate + parts[0].sigmoid() * (h - candidate);
  }

  at::Tensor weight;
};

struct delta_cell {
  explicit delta_cell(const kernel_context& c)
      : weight(c.tensor("weight_hh")),
        bias_gate(c.tensor("bias_gate")),
        product(c.tensor("product")),
        of_state(c.tensor("of_state")),
        of_input(c.tensor("of_input")) {}

  [[nodiscard]] at::Tensor next(const at::Tensor& x, const at::Tensor& h) const {
    const auto mapped = at::linear(h, weight);
    const auto candidate =
        (product * x * mapped + of_state * mapped + of_input * x).tanh();
    const auto gate = (x + bias_gate).sigmoid();
    return (candidate + gate * (h - candidate)).tanh();
  }

  at::Tensor weight, bias_gate, product, of_state, of_input;
};

constexpr std::array rows{
    kernel_row{"gru", make_of_one_state<at::gru, at::gru_cell>},
    kernel_row{"lstm", make_lstm},
    kernel_row{"rnn", make_of_one_state<at::rnn_tanh, at::rnn_tanh_cell>},
    kernel_row{"mgu", make_cell<mgu_cell>},
    kernel_row{"ugrnn", make_cell<ugrnn_cell>},
    kernel_row{"delta_rnn", make_cell<delta_cell>},
};

} // namespace

std::span<const kernel_row> recurrent_kernels() {
  return rows;
}

} // namespace clade
