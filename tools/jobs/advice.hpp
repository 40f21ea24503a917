#pragma once

#include "genome/base/error.hpp"
#include "tools/machine/devices.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace clade {

/// How many jobs one thing of a machine is enough for.
struct worker_limit {
  std::string what;  ///< "cores", "memory", "GPUs"
  std::string there; ///< "2", "21.3 GiB free, 1.0 GiB a job"
  std::size_t workers = 0;
};

struct worker_advice {
  std::vector<worker_limit> limits;
  std::size_t workers = 1; ///< The number of workers that all of them allow, at least 1.
};

/// The memory that a job is taken to need if nobody says (--memory).
inline constexpr std::uint64_t assumed_memory = std::uint64_t{1} << 30;

/// Reckons with one core and `memory_each` for each job, 0 being `assumed_memory`, and
/// with one GPU where there are any.
[[nodiscard]] worker_advice advise_workers(const machine& m, std::uint64_t memory_each);

/// A table, and a line that says what follows.
[[nodiscard]] std::string to_text(const worker_advice& advice);

struct wanted_workers {
  std::optional<std::uint32_t> most{}; ///< --max-workers
  bool sequential = false;
  bool oversubscribe = false;
};

/// Returns how many jobs to run at once: at most as many as there are, as are wanted, and
/// as the machine allows. Wanting more than it allows is refused in a sentence, unless
/// `oversubscribe` says so.
[[nodiscard]] expected<std::size_t> choose_workers(const worker_advice& advice,
                                                   const wanted_workers& wanted,
                                                   std::size_t jobs);

/// Returns what `[slots] local` says for so many: GPUs first, where there are any, with
/// several slots on one where there are fewer.
[[nodiscard]] std::string slots_for(std::size_t workers, const machine& m);

} // namespace clade
