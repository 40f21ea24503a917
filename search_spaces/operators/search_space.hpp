#pragma once

#include "genome/genes/grammar.hpp"
#include "search_spaces/operators/shape.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace clade {

class own_operator;
struct operator_entry;

/// The limits that no network may exceed.
struct network_limits {
  std::uint64_t max_parameters = 1'000'000;
  std::uint64_t max_multiply_adds = 100'000'000; ///< For one example.
  /// Channels of an image, units of a dense layer. A flattened or concatenated vector may
  /// be longer; what it costs shows in the parameters.
  std::int64_t max_width = 512;
};

/// A network that people know to be good, `[seeds.NAME]`: among the first candidates.
struct seed_network {
  std::string name;
  std::vector<node_gene> layers; ///< In a chain, with the settings that are given.
  std::vector<setting> hyperparameters{}; ///< The hyperparameters that are given.
};

/// A file such as search_spaces/image.toml: which operators with which settings, limits,
/// and hyperparameters. `include = ["hyperparameters.toml"]` takes over other files'
/// tables.
struct search_space {
  std::string name; ///< The file's path as given, for messages.
  /// The layout of the examples; examples of another one become vectors.
  layout input = layout::vector;
  grammar rules;
  network_limits limits;
  std::vector<seed_network> seeds{}; ///< By name.
  /// The composites that the file itself makes and draws, by name (own_operator.hpp).
  std::vector<std::shared_ptr<const own_operator>> composites{};
};

/// The row of an operator for layers: of the table, or else of the space's own composites;
/// null: there is none of that name.
[[nodiscard]] const operator_entry* find_operator(const search_space& space,
                                                  std::string_view name);

} // namespace clade
