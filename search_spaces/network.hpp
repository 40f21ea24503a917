#pragma once

#include "genome/genome.hpp"
#include "search_spaces/search_space.hpp"
#include "search_spaces/shape.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace clade {

/// What one layer costs for one example.
struct layer_cost {
  std::uint64_t parameters = 0;
  std::uint64_t multiply_adds = 0;
  std::uint64_t activation_bytes = 0; ///< What training keeps for the backward pass.

  friend bool operator==(const layer_cost&, const layer_cost&) = default;
};

/// A layer with everything known: the operator (a row of `operators()`, reserved ones
/// such as "add", "concat" and adapters included), its settings, its inputs by index, its
/// shapes.
struct layer {
  std::string name; ///< Unique and stable: the gene's innovation and the role ("n3f2a1",
                    ///< "n3f2a1.adapt0"); names the layer's parameters, keys their
                    ///< initial values.
  std::string op;
  std::vector<setting> settings;
  std::vector<std::size_t>
      inputs; ///< Indices of earlier layers; empty for the input alone.
  std::vector<tensor_shape> in;
  tensor_shape out;
  layer_cost cost;

  friend bool operator==(const layer&, const layer&) = default;
};

/// A genome decoded for a problem: what a trainer builds, and what costs are computed
/// from.
struct network {
  std::vector<layer>
      layers; ///< Topological; the first is the input, the last the output.

  [[nodiscard]] layer_cost cost() const;

  friend bool operator==(const network&, const network&) = default;
};

/// What goes in and what must come out.
struct problem {
  tensor_shape input;
  std::int64_t outputs = 1; ///< Classes, or target columns.
};

/// Infers all shapes and adapts inputs that do not fit: flattens before dense layers,
/// projects and pools what is merged by "add" to the shape of the merge, pools what is
/// concatenated to the smallest height and width. Every genome that obeys the grammar
/// decodes, unless it exceeds the space's limits (an error that says which).
[[nodiscard]] expected<network> decode(const search_space& space, const genome& g,
                                       const problem& p);

/// Bytes that training this network needs at that batch size: parameters, gradients, the
/// optimiser's `state_copies` (SGD with momentum 1, Adam 2) and activations.
[[nodiscard]] std::uint64_t training_bytes(const network& n, std::uint64_t batch_size,
                                           std::uint64_t state_copies);

/// A line for each layer: name, operator, settings, inputs, shape, parameters.
[[nodiscard]] std::string to_text(const network& n);

} // namespace clade
