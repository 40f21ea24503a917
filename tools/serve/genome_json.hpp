#pragma once

#include "genome/genes/genome.hpp"
#include "search_spaces/operators/network.hpp"

#include <nlohmann/json_fwd.hpp>

#include <span>
#include <string>
#include <string_view>

namespace clade {

/// A search space as programs read it, for samplers that are not Clade's own:
///
///     {"image": true, "limits": {"max_nodes": 10, "max_skips": 4, "initial_nodes": 4,
///      "max_parameters": ..., "max_multiply_adds": ..., "max_width": ...},
///      "operators": [{"name": "conv", "weight": 6, "settings": [PARAMETER...]}...],
///      "merge": [PARAMETER...], "hyperparameters": [PARAMETER...]}
///
/// A PARAMETER has a "name" and a "type": "choice" with "options" and "ordered", "real"
/// or "whole" with "low", "high", "log", and "step" of whole ones; and, where it applies
/// only beside certain values of one before it in its list, "when":
/// {"parameter": "optimiser", "values": ["sgd"]}.
[[nodiscard]] nlohmann::ordered_json to_json(const search_space& space);

/// Reads a genome of that space:
///
///     {"layers": [{"op": "conv", "settings": {"filters": 16, ...}, "inputs": [0]}...],
///      "output": {"inputs": [1, 2], "settings": {"merge": "add"}},
///      "hyperparameters": {"learning_rate": 0.01, ...}}
///
/// "inputs" number what enters a layer: 0 is the input, 1 the first layer; left out, it
/// is the layer before. "recurrent": [{"input": 2, "steps": 3}] of a layer is what layer 2,
/// which may come later, said three steps before. A setting that may have only one value
/// need not be said. A number of either kind is taken for the kind that the space has.
/// Whatever is not of the space, or exceeds its limits where it is decoded, is an error, and so is an unknown key of a
/// layer or of the output; other keys beside "layers" are the caller's. Total: takes any
/// JSON.
[[nodiscard]] expected<genome> genome_from_json(const nlohmann::ordered_json& j,
                                                const search_space& space,
                                                const problem& p);

/// Refuses the first key of the object `j` that is not `known`, with the nearest known
/// one. `where` names the object in the message: "layers[2]".
[[nodiscard]] expected<void> refuse_unknown_keys(const nlohmann::ordered_json& j,
                                                 const std::string& where,
                                                 std::span<const std::string_view> known);

} // namespace clade
