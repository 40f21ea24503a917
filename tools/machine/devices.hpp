#pragma once

#include "genome/base/error.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace clade {

struct gpu {
  unsigned index = 0;            ///< Among those that this process sees: N of "cuda:N".
  std::string uuid;              ///< "GPU-8932f937-d72c-4106-c12f-20bd9faed9f6"
  std::string name;              ///< "NVIDIA H200"
  std::uint64_t total_bytes = 0; ///< 0: not known.
  std::uint64_t free_bytes = 0;

  friend bool operator==(const gpu&, const gpu&) = default;
};

/// The resources that a machine has for this process.
struct machine {
  std::vector<gpu> gpus;
  unsigned hidden_gpus = 0; ///< That CUDA_VISIBLE_DEVICES leaves out.
  /// Why nobody can say which GPUs there are; empty: it was said.
  std::string gpu_trouble;
  std::vector<unsigned> cores;      ///< That its affinity mask allows, at least one.
  std::optional<double> core_quota; ///< The share of time that a control group gives.
  std::uint64_t memory_total = 0;
  std::uint64_t memory_free = 0; ///< The memory that can still be had without swapping.

  friend bool operator==(const machine&, const machine&) = default;
};

struct machine_params {
  /// The folder that has proc and sys; another in tests.
  std::filesystem::path root = "/";
  bool gpus = true; ///< Whether to ask for them, which may take a second.
};

/// Looks at this machine through what limits this process: affinity mask, control groups,
/// CUDA_VISIBLE_DEVICES (which is also how SLURM and others say what they allocated).
[[nodiscard]] expected<machine> look_at_machine(const machine_params& params = {});

/// How many slots of one core each there is time for, at least one.
[[nodiscard]] unsigned cpu_slots(const machine& m);

/// Returns the GPUs of `all` that a value of CUDA_VISIBLE_DEVICES lets through, in its
/// order: numbers, UUIDs, beginnings of UUIDs, and MIG devices, which are taken as they
/// are. The first entry that names nothing ends the list, as in CUDA, and one that names
/// something twice empties it. Numbers count as nvidia-smi does
/// (CUDA_DEVICE_ORDER=PCI_BUS_ID).
[[nodiscard]] std::vector<gpu> visible_gpus(const std::vector<gpu>& all,
                                            std::string_view visible);

/// "0-3,8" gives 0, 1, 2, 3, 8; nothing if it is not such a list.
[[nodiscard]] std::optional<std::vector<unsigned>> parse_cores(std::string_view list);

/// The other way round.
[[nodiscard]] std::string cores_text(const std::vector<unsigned>& cores);

} // namespace clade
