#pragma once

#include "engine/program/lower/program.hpp"

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>

#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace clade {

/// A kernel is made of this.
struct kernel_context {
  const program_step& step;
  std::span<const at::Tensor> tensors; ///< The tensors of `step.tensors`, in their order.
  random_stream& random;               ///< The layer's, behind its initial values.
  at::Device device;                   ///< The place where it will compute.

  /// Undefined where the step has no such tensor.
  [[nodiscard]] at::Tensor tensor(std::string_view role) const;
};

/// How a step is computed. It shares the tensors that it was made of.
struct kernel {
  using inputs = std::span<const at::Tensor>;

  /// Inputs and output carry the batch in front of the step's shapes.
  std::function<at::Tensor(inputs in, bool training)> forward;
  /// Takes its constants from what enters it of the examples of the training part; empty:
  /// none come from there.
  std::function<void(const at::Tensor&)> observe{};
  /// For a computation with a state: computes one step, [N, 1, features], behind that state,
  /// which is empty before the first step, and which it changes; empty: it has none.
  std::function<at::Tensor(const at::Tensor&, std::vector<at::Tensor>& state)> next{};
  /// The generator that it draws from in training; undefined: it does not draw.
  at::Generator generator{};
};

/// The kernel of the computation of the same name (`program_step::computes`).
struct kernel_row {
  std::string_view computes;
  kernel (*make)(const kernel_context& c);
  bool normalises = false; ///< Scores without training leave it out.
};

[[nodiscard]] std::span<const kernel_row> kernels();
/// A computation that has no kernel ends the program.
[[nodiscard]] const kernel_row& kernel_of(const program_step& s);

[[nodiscard]] std::span<const kernel_row> plain_kernels();
[[nodiscard]] std::span<const kernel_row> map_kernels();
[[nodiscard]] std::span<const kernel_row> pool_kernels();
[[nodiscard]] std::span<const kernel_row> norm_kernels();
[[nodiscard]] std::span<const kernel_row> sequence_kernels();
[[nodiscard]] std::span<const kernel_row> recurrent_kernels();
[[nodiscard]] std::span<const kernel_row> attention_kernels();
[[nodiscard]] std::span<const kernel_row> time_kernels();
[[nodiscard]] std::span<const kernel_row> table_kernels();
[[nodiscard]] std::span<const kernel_row> random_convolution_kernels();

/// Returns scores whose probabilities are those of `scores` [examples, classes], mixed with
/// equal ones so that none is below `least`.
[[nodiscard]] at::Tensor bounded_scores(const at::Tensor& scores,
                                        const at::Tensor& least);

/// Returns log-odds near `odds`, whose probabilities are at least `least`, and at most 1 less
/// it.
[[nodiscard]] at::Tensor bounded_odds(const at::Tensor& odds, const at::Tensor& least);

} // namespace clade
