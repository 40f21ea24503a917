#pragma once

#include "actors/node/node.hpp"
#include "actors/transport/link/endpoint.hpp"
#include "actors/transport/tls/keys.hpp"

#include <chrono>
#include <string>
#include <vector>

namespace clade {

struct node_process_params {
  std::vector<endpoint> heads; ///< Tried in turn.
  key_files keys;
  std::string build;
  node_params node;
  /// How long no head may be found before the process ends. 0: it ends with its first
  /// connection.
  std::chrono::milliseconds give_up{600'000};
};

/// The life of one node process: joins the run, trains what it is given, keeps what it
/// has while it looks for the head again, and returns when it is dismissed or drained
/// (SIGTERM), no head was found for too long, or an evaluation is stuck. Call it from the
/// process's only thread; the caller must leave the process by `_exit`: a stuck trainer's
/// thread cannot be joined. Blocks.
[[nodiscard]] expected<node_end> run_node(const node_process_params& params);

} // namespace clade
