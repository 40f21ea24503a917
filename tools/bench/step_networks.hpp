#pragma once

#include "search_spaces/operators/search_space.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>

namespace clade {

/// A network whose training steps `clade bench step` times.
struct step_network {
  std::string name;
  std::string unit; ///< "images" or "rows".
  /// A description that genome_from_json (tools/serve/genome_json.hpp) and
  /// tools/bench/torch_step.py both read: layers and hyperparameters.
  nlohmann::ordered_json description;
  tensor_shape input;
  std::int64_t outputs = 10;
  std::int64_t examples = 0; ///< The examples of an epoch.
};

/// A dense network for tables, a small ResNet (He et al., 2016) and a network of inverted
/// residual blocks (Sandler et al., 2018) for images of 3x32x32, each with batches of 32
/// and of 256.
[[nodiscard]] std::vector<step_network> step_networks();

/// A space that has all of them; an image's is another one than a table's.
[[nodiscard]] expected<search_space> space_of(const step_network& n);

/// Writes so many examples of noise as features.npy and targets.npy.
[[nodiscard]] expected<void> write_noise(const step_network& n, std::int64_t examples,
                                         const std::filesystem::path& folder);

} // namespace clade
