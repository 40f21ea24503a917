#pragma once

#include "engine/queue/queue_state.hpp"
#include "tools/machine/slots.hpp"
#include "tools/queue/processes/entry_process.hpp"
#include "tools/queue/processes/ranks.hpp"

#include <filesystem>
#include <span>

namespace clade {

/// In a queue's folder, or that of one of its machines: a folder for each entry, by its
/// number, with its `log` and the `runs` that it made.
inline constexpr const char* entries_folder_name = "entries";
inline constexpr const char* entry_log_name = "log";
inline constexpr const char* entry_runs_name = "runs";
/// And the folder with which what runs there asks the queue's server as its user.
inline constexpr const char* entry_queue_name = "queue";

[[nodiscard]] std::filesystem::path entry_folder(const std::filesystem::path& queue,
                                                 entry_id id);

/// The run of an entry that can be resumed; empty: it has none yet.
[[nodiscard]] std::filesystem::path run_of_entry(const std::filesystem::path& folder);

/// The slots as an entry's process gives them to its run: "cuda:0*2,cpu:3". It sees no
/// other device and runs on their cores alone.
[[nodiscard]] std::string slots_text(std::span<const slot> slots);

/// Returns the environment that a program finds: CLADE_ENTRY, CLADE_SLOTS ("cuda:0
/// cuda:1"), CUDA_VISIBLE_DEVICES, and the number of threads of OpenMP and others, which
/// is that of its cores.
[[nodiscard]] std::vector<std::string> entry_environment(entry_id id,
                                                         std::span<const slot> slots);

/// The same of each of its ranks, with equal shares of the slots in their order. But all see
/// all its GPUs, of which each takes that of its LOCAL_RANK, as scripts for torchrun do.
[[nodiscard]] std::vector<rank_process> rank_processes(entry_id id, std::uint32_t ranks,
                                                       std::span<const slot> slots);

/// `invalid_input`: a run or a training, or slots that cannot be shared out evenly.
[[nodiscard]] expected<void> check_ranks(const queue_submission& s);

/// How to start an entry on its slots: a run for the first time, or resumed; a command
/// anew. `program`: clade's own file. An error: there is no such program.
[[nodiscard]] expected<entry_process_params>
entry_command(const std::filesystem::path& program, const std::filesystem::path& folder,
              entry_id id, const queue_submission& what, std::span<const slot> slots);

} // namespace clade
