#pragma once

#include "genome/genes/genome.hpp"
#include "search_spaces/operators/search_space.hpp"
#include "search_spaces/operators/shape.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace clade {

/// The cost of one layer for one example.
struct layer_cost {
  std::uint64_t parameters = 0;
  std::uint64_t multiply_adds = 0;
  /// The memory that training keeps for the backward pass.
  std::uint64_t activation_bytes = 0;

  friend bool operator==(const layer_cost&, const layer_cost&) = default;
};

/// A layer with everything known: the operator (a row of `operators()`, of any role), its
/// settings, its inputs by index, its shapes.
struct layer {
  /// Unique and stable: the gene's innovation in full, and for what decode() put before
  /// its operator the role, numbered by input where several are merged ("n3f2a1",
  /// "n3f2a1.flatten", "n3f2a1.project0", "n3f2a1.add"); of an operator that is several
  /// layers the part ("n3f2a1.2.conv1", of the second repetition). Names the layer's
  /// parameters and keys their initial values.
  std::string name;
  std::string op;
  std::vector<setting> settings; ///< Complete (search_spaces/operators/operators.hpp).
  /// Indices of earlier layers (but see `body`); empty for the input alone.
  std::vector<std::size_t> inputs;
  std::vector<tensor_shape> in;
  tensor_shape out;
  layer_cost cost;
  /// Its norm's weight, or where it has none its map's, is 0 at first: the end of a branch
  /// that is added to what it branched off.
  bool starts_at_zero = false;
  /// It starts at 0 where it is new in a network that takes over weights: there a branch
  /// that is added changes nothing at first. A network that is trained from new weights
  /// has the usual values, since a shallow one learns about half as much in its first
  /// epochs if branches start at 0.
  bool joins_at_zero = false;
  /// For an add: its first input is a residual branch, which is added to what it branched
  /// off.
  bool adds_branch = false;
  /// The name of the earlier layer, of the same operator, whose trained tensors are this
  /// one's too. Empty: it has its own.
  std::string shares{};
  /// It is the end of a branch of a search space's own composite, whose operator this
  /// parameter of the gene's says, of which "zero" is a word too. Empty: it is none.
  std::string chosen_by{};
  std::vector<std::int64_t> selected{}; ///< For a select: the features that it passes on.
  /// For an over_time: the layers that each step goes through, of vectors, the first of
  /// which is the step that enters, and the last gives what comes out. The input of a
  /// `recall` may be any of them.
  std::vector<layer> body{};

  friend bool operator==(const layer&, const layer&) = default;
};

/// A genome decoded for a problem: what a trainer builds, and what costs are computed
/// from.
struct network {
  std::vector<layer>
      layers; ///< Topological; the first is the input, the last the output.

  /// The sum over layers; what would overflow stays at the largest number.
  [[nodiscard]] layer_cost cost() const;

  friend bool operator==(const network&, const network&) = default;
};

/// The shapes that go in and that must come out.
struct problem {
  tensor_shape input;
  std::int64_t outputs = 1; ///< Classes, or target columns.
  /// By input of a table: whether it is a number, and not one of several that say a
  /// category, a season or a blank. Empty: all inputs are numbers.
  std::vector<bool> numbers{};
  bool apart =
      false; ///< Outputs are targets of their own, and not the scores of classes.
};

/// The cost of layers that each of so many steps goes through; parameters are there once.
[[nodiscard]] layer_cost cost_over_time(std::span<const layer> body, std::int64_t steps);

/// Infers all shapes and adapts what does not fit:
///
///   - an input of a layout that an operator does not take is adapted to that of the
///     space's examples if it takes those, else to the first that it takes: an image or a
///     sequence that enters a dense layer or the output is flattened, a vector that enters
///     an image's operator becomes an image of one pixel, and one that enters a sequence's
///     a sequence of one step; spaces for vectors flatten examples at once;
///   - where edges meet, the node's setting "merge" ("add" where it has none) says how;
///     if they are of several layouts, all are flattened first;
///   - images that meet are pooled to the smallest height and the smallest width among
///     them, and sequences to the fewest steps;
///   - what is added is projected to the channels or features of the last input in
///     topological order (the main path; skips come from further back).
///
/// In a space with recurrent edges all layers but the output are the body of one layer,
/// `over_time`, which goes over the steps of a sequence and gives what its body says of the
/// last. There a recurrent edge is a `recall`, a map without a bias of what the layer that it
/// leads from said so many steps before, 0 before the first, to the units of the last input
/// that is of the present; layers with a state, such as gru, keep it from step to step.
///
/// Every genome that obeys the grammar decodes, unless it exceeds the space's limits: an
/// error that says which, "a.toml: 31,000 parameters exceed limits.max_parameters =
/// 20,000". Genes that lie on no path to the output are left out. Other genomes, and
/// inputs of no known layout, give an error too.
[[nodiscard]] expected<network> decode(const search_space& space, const genome& g,
                                       const problem& p);

/// Bytes that training this network needs at that batch size: parameters, gradients, the
/// optimiser's `state_copies` (SGD with momentum 1, Adam 2) and activations.
[[nodiscard]] std::uint64_t training_bytes(const network& n, std::uint64_t batch_size,
                                           std::uint64_t state_copies);

/// Bytes that a process probably takes on a processor while it trains this network at that
/// batch size and validates it: a multiple of `training_bytes`, or of what validation
/// needs where that is more (experiments/RESULTS.md has how good it is).
[[nodiscard]] std::uint64_t peak_bytes(const network& n, std::uint64_t batch_size,
                                       std::uint64_t state_copies);

/// A line for each layer (name, operator and settings but those that do nothing, inputs,
/// shape, parameters) and one for the sum. Names are cut as far as they stay unique:
///
///     input                                                    [1, 8, 8]
///     n3f2a1          conv(filters=8, kernel=3) <- input       [8, 8, 8]        80
///     output.flatten  flatten <- n3f2a1                        [512]
///     output          output(outputs=10) <- output.flatten     [10]          5,130
///
/// and then "5,210 parameters, 9,728 multiply-adds and 2,344 bytes of activations for one
/// example".
[[nodiscard]] std::string to_text(const network& n);

} // namespace clade
