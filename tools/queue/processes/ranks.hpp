#pragma once

#include "genome/base/error.hpp"

#include <string>
#include <vector>

namespace clade {

/// The parts that one process of an entry that has several is started with.
struct rank_process {
  std::vector<std::string> environment; ///< "NAME=value", beside what this process has.
  std::vector<unsigned> cores;          ///< Empty: those of this process.

  friend bool operator==(const rank_process&, const rank_process&) = default;
};

/// Starts the program once for each rank, with RANK, LOCAL_RANK, WORLD_SIZE,
/// LOCAL_WORLD_SIZE, MASTER_ADDR and MASTER_PORT, by which PyTorch's env:// finds the
/// others. The lines that they write go to standard output, one at a time, each with its
/// label (rank_lines.hpp). Blocks until all have ended. When one fails, the others are
/// told to end (SIGTERM), and killed 10 s later. Returns 0 if all have succeeded, else
/// the exit code of the first that failed. SIGTERM, SIGINT and SIGHUP, which come to the
/// whole group, are the ranks' to heed, and not this process's.
[[nodiscard]] expected<int> run_ranks(const std::vector<std::string>& command,
                                      const std::vector<rank_process>& ranks);

/// The words after which the program and its arguments stand: "clade ranks --of JSON ...".
[[nodiscard]] std::vector<std::string>
ranks_words(const std::string& program, const std::vector<rank_process>& ranks);
/// One `--of`.
[[nodiscard]] expected<rank_process> read_rank(const std::string& text);

} // namespace clade
