#pragma once

#include "engine/evaluation/process/process_table.hpp"
#include "genome/base/error.hpp"
#include "tools/machine/devices.hpp"
#include "tools/machine/supervisor.hpp"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace clade {

/// A device, or a share of one, that one node process is bound to.
struct slot {
  std::string name; ///< "cpu:0", "cuda:1"; "cuda:1/0" where several share the card.
  /// The name that the process gives it: "cpu", or "cuda:0", since it sees no other.
  std::string device;
  std::vector<std::string> environment; ///< Threads, visible devices.
  /// The cores on which its process may run; empty: wherever this one may.
  std::vector<unsigned> cores;
  /// The memory that a candidate may take there, of the device's memory; 0: not known.
  std::uint64_t memory_bytes = 0;
  std::string label; ///< For people: "NVIDIA H200 GPU-8932f937"; empty for a core.

  friend bool operator==(const slot&, const slot&) = default;
};

/// The slots that a text asks for on a machine, GPUs first:
///
///   auto            one for each GPU that is seen, else one for each core there is time
///                   for
///   3, cpu:3        three on CPU cores, also where there are fewer
///   cuda            one for each GPU
///   cuda:1          the GPU with that number
///   cuda:1*2        two on that GPU, each with half of its free memory; also cuda*2
///   cuda:0,cpu:2    all of these
///   none            none, for a run that waits for other machines
///
/// The list is empty for "none" alone. Every slot has one thread, so that results do not
/// depend on what a machine has. If there is a core for each slot, the cores are divided
/// evenly among them.
[[nodiscard]] expected<std::vector<slot>> parse_slots(const std::string& text,
                                                      const machine& m);

/// On this machine; it is asked for its GPUs only if the text is about them.
[[nodiscard]] expected<std::vector<slot>> parse_slots(const std::string& text);

/// Returns advice for a person whose networks are to train on these slots, if more of
/// them are on CPU cores than there is time for: a sentence, else empty. More than four
/// for each core are refused: none of them would get on.
[[nodiscard]] expected<std::string> crowding(const std::vector<slot>& slots,
                                             const machine& m);

/// The command of the node process for a slot.
struct node_command {
  std::filesystem::path program;
  std::string connect; ///< "127.0.0.1:4711"
  std::filesystem::path keys;
  std::string name; ///< The name of the worker, before that of each slot; empty: none.
  std::uint64_t worker = 0;
  std::chrono::milliseconds grace{30'000};
  std::chrono::milliseconds give_up{600'000};
  /// The folder in which programs that evaluate have their logs; empty: in this user's
  /// cache.
  std::filesystem::path logs{};
};

/// Returns a number that no other worker has: by it a head knows that a process replaces
/// another.
[[nodiscard]] std::uint64_t drawn_worker();

[[nodiscard]] process_params node_process(const node_command& command, const slot& s);

/// Sets this process's environment as a process of that slot has it. LibTorch reads it
/// when it is loaded.
void enter_environment(const slot& s);

/// The one that predicts and writes TorchScript (engine/export/torch/torch_work.hpp).
[[nodiscard]] std::filesystem::path torch_export_path();

} // namespace clade
