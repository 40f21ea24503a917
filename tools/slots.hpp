#pragma once

#include "genome/error.hpp"
#include "tools/supervisor.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace clade {

/// A device that one node process is pinned to.
struct slot {
  std::string name; ///< "cpu:0", "cuda:1"
  std::string
      device; ///< What the process calls it: "cpu", or "cuda:0", since it sees no other.
  std::vector<std::string> environment; ///< Threads, visible devices.
};

/// Reads "auto" (every core that this process may use), "cpu:4" (four of them), "3" (the
/// same as "cpu:3"), "cuda:0,cuda:1" or a mixture. A CPU slot has one thread.
[[nodiscard]] expected<std::vector<slot>> parse_slots(const std::string& text);

/// The command of the node process for a slot.
struct node_command {
  std::filesystem::path program;
  std::string connect; ///< "127.0.0.1:4711"
  std::filesystem::path keys;
  std::string name; ///< Of the worker, before that of each slot; empty: none.
  std::uint64_t worker = 0;
  double grace_seconds = 30;
  double give_up_seconds = 600;
};

[[nodiscard]] process_params node_process(const node_command& command, const slot& s);

/// This program's own file.
[[nodiscard]] std::filesystem::path own_program();

/// The module with LibTorch, which lies beside it.
[[nodiscard]] std::filesystem::path module_path();

} // namespace clade
