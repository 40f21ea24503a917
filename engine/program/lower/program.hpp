#pragma once

#include "search_spaces/operators/operators.hpp"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace clade {

/// Index into `program::tensors` or, in an exported model, into its weights.
using tensor_index = std::size_t;

/// The epsilon of all normalisations.
inline constexpr double norm_epsilon = 1e-5;

/// A tensor that a step computes with.
struct step_tensor {
  std::string role; ///< "weight"; of an over_time, "dense1.weight"
  tensor_index index = 0;
  bool trained = true; ///< Whether the optimiser changes it.
};

struct step_input {
  std::size_t step = 0; ///< The step that gives it; an earlier one unless it is delayed.
  /// It is what the step gave so many steps of time before; 0: what it gives now.
  std::int64_t delay = 0;
};

struct program;

/// One computation of a program. Its name says which one: a row of `operators()` without
/// norm and activation, which are steps of their own, or "average", or the computation on
/// sequences of a row that works on images too. Kernels and writers are found by it.
struct program_step {
  std::string_view computes;
  /// A word, unique: the operator and its number, and within a layer its part ("conv2",
  /// "conv2_norm", "conv2_activation").
  std::string name;
  std::string word; ///< The layer's own word, which the names of its steps begin with.
  std::size_t layer = 0; ///< Index into `program::layers`.
  std::vector<setting> settings;
  std::vector<std::int64_t> selected; ///< For a select: the features that it passes on.
  std::vector<step_tensor> tensors;
  std::vector<step_input> inputs; ///< Empty: the examples enter.
  tensor_shape in;                ///< The shape of the first input.
  tensor_shape out;
  /// For an over_time: what each step of the sequence goes through. Its own tensors are
  /// those of the body's steps, in their order: those of the body are indices into the
  /// body's.
  std::shared_ptr<const program> body{};

  [[nodiscard]] std::optional<tensor_index> tensor(std::string_view role) const;
};

struct program_tensor {
  std::string name; ///< By which weights are stored: "n3f2a1.norm.weight".
  tensor_entry entry;
};

/// A layer of the network: some of the steps, each of which follows the one before it, and
/// some of the tensors.
struct program_layer {
  struct range {
    std::size_t begin = 0, end = 0;
  };

  std::string name;     ///< Its initial values are drawn from the stream of this name.
  range steps, tensors; ///< Steps may also have trained tensors of earlier layers.
  std::vector<std::size_t> inputs; ///< Indices of earlier layers.
  bool adds_branch = false;        ///< It means the same as in `layer`.
  /// Multiply-adds, and outputs, for one example: about how long it takes.
  std::uint64_t work = 0;
};

/// A network as computations: what training computes, and what every export is written
/// from.
struct program {
  std::vector<program_layer> layers; ///< The layers of the network.
  std::vector<program_step> steps;   ///< Topological; the input first, the output last.
  std::vector<program_tensor> tensors;
  /// So many networks of one form are computed together: each tensor has an axis of them
  /// in front.
  std::int64_t candidates = 1;

  /// The shape of a tensor, with the axis of candidates where there are several.
  [[nodiscard]] std::vector<std::int64_t> shape_of(tensor_index i) const;
};

/// Takes a decoded network apart, for so many candidates of its form.
[[nodiscard]] program lower(const network& n, std::int64_t candidates = 1);

/// Returns the steps of an over_time's body, whose tensors are indices as its own are, and
/// whose names begin with `prefix`.
[[nodiscard]] std::vector<program_step> body_steps(const program_step& over_time,
                                                   const std::string& prefix = {});

/// Refuses, in a sentence, programs that have no kernels and no exports yet: those of
/// several candidates, and those whose steps are delayed outside of a body.
[[nodiscard]] expected<void> check(const program& p);

} // namespace clade
