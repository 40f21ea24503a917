#pragma once

#include "actors/transport/link/endpoint.hpp"
#include "actors/transport/tls/keys.hpp"
#include "genome/base/error.hpp"

#include <cstddef>
#include <string>

namespace clade {

struct fleet_params {
  endpoint head;
  key_files keys;
  std::string build;
  std::string name;      ///< Before the slots' names.
  std::size_t nodes = 1; ///< How many are simulated.
};

/// Many nodes in one process, for measuring what a head bears: each says hello, sends
/// heartbeats and results of its own, all over one connection. A candidate of a synthetic
/// experiment is evaluated at once, and its result sent when its `duration` has passed.
/// Blocks until the run dismisses them.
[[nodiscard]] expected<void> run_fleet(const fleet_params& params);

} // namespace clade
