#pragma once

#include "actors/endpoint.hpp"
#include "actors/keys.hpp"
#include "actors/node.hpp"
#include "actors/protocol.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace clade {

/// An actor system that talks TLS with these keys, and to nobody without. Work is shared
/// through one queue whose threads sleep until there is some: CAF's default, work
/// stealing, polls, which takes time from training and wakes up to 10 ms late.
class network_config : public caf::actor_system_config {
public:
  network_config(const key_files& keys, std::size_t threads);
};

struct node_process_params {
  endpoint head;
  key_files keys;
  std::string build;
  std::string slot;
  std::string device = "cpu";
};

/// The life of one node process: joins the run, trains what it is given, and returns when
/// it is dismissed, the head is gone or an evaluation is stuck. The caller must leave the
/// process by
/// `_exit`: a stuck trainer's thread cannot be joined. Blocks.
[[nodiscard]] expected<node_end> run_node(const node_process_params& params);

} // namespace clade
