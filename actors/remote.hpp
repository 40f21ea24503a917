#pragma once

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

/// Where a head listens.
struct endpoint {
  std::string host = "127.0.0.1";
  std::uint16_t port = 0;
};

/// "127.0.0.1:4711"
[[nodiscard]] expected<endpoint> parse_endpoint(const std::string& text);

struct node_process_params {
  endpoint head;
  key_files keys;
  std::string build;
  std::string slot;
  std::string device = "cpu";
  std::uint64_t memory_bytes = 0; ///< That a candidate may take there; 0: not known.
  std::string label;              ///< The device, for people: "NVIDIA H200 GPU-8932f937".
};

/// The life of one node process: joins the run, trains what it is given, and returns when
/// it is dismissed, the head is gone or an evaluation is stuck. The caller must leave the
/// process by
/// `_exit`: a stuck trainer's thread cannot be joined. Blocks.
[[nodiscard]] expected<node_end> run_node(const node_process_params& params);

} // namespace clade
